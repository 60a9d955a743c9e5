<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace ReceiptKit;

/** The payload of a receipt that is not valid was asked for. */
final class NotValidException extends ReceiptKitException
{
    public function __construct(public readonly Verdict $verdict, int $status)
    {
        parent::__construct($verdict->code() ?? $verdict->verdict, $verdict->reason['message'] ?? '', $status, $verdict->reason['place'] ?? null);
    }
}
