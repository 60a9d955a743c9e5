<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace ReceiptKit;

/** A receipt that was signed; that of an app in base64. */
final class SignedReceipt
{
    /** @internal */
    public function __construct(public readonly string $format, public readonly ?string $signedDate, public readonly string $receipt)
    {
    }
}
