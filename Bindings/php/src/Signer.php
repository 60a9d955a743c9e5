<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace ReceiptKit;

/** Signs receipts with a private key and its certificates, for tests. */
final class Signer extends Handle
{
    /** @param array<string, mixed>|string $identity an identity or its JSON: `['privateKey' => PEM, 'certificates' => […]]` */
    public function __construct(#[\SensitiveParameter] array|string $identity)
    {
        parent::__construct('signer_create', $identity);
    }

    /**
     * @param string $format the kind of receipt, such as `signed-transaction`
     * @param array<string, mixed>|string $receipt the receipt or its JSON, as `receipt-tool sign` reads it
     * @param bool $base64 whether a transaction receipt is returned in base64; an app receipt always is
     * @param bool $pss whether a purchase of Huawei is signed with RSASSA-PSS
     */
    public function sign(string $format, array|string $receipt, bool $base64 = false, bool $pss = false): SignedReceipt
    {
        $text = Library::document($receipt);
        // A text that is not one JSON value could add members to the request.
        json_decode($text, true);
        if (json_last_error() !== JSON_ERROR_NONE) {
            throw new ReceiptKitException('usage', 'The receipt is no JSON: ' . json_last_error_msg() . '.', Library::USAGE, '$.receipt');
        }
        $others = Library::document(['format' => $format, 'base64' => $base64, 'pss' => $pss]);
        $request = substr($others, 0, -1) . ",\"receipt\":$text}";
        $signed = Library::members($this->library->textOf('sign', $this->handle(), $request, strlen($request)));
        return new SignedReceipt($signed['format'], $signed['signedDate'] ?? null, $signed['receipt']);
    }
}
