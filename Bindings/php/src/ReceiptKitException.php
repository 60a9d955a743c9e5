<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace ReceiptKit;

/** What a call fails with. A verdict is no exception, whatever it says. */
class ReceiptKitException extends \RuntimeException
{
    /**
     * @param string $errorCode a stable code, such as `unexpected`
     * @param int $status the status of receiptkit.h: 64 for a wrong call, 66 for an input that cannot be read, 70 for a fault
     * @param string|null $place the place in the input, such as a JSON path
     */
    public function __construct(
        public readonly string $errorCode,
        string $message,
        public readonly int $status,
        public readonly ?string $place = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message . ($place === null ? '' : " ($place)"), $status, $previous);
    }
}
