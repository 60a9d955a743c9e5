<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

// usage: POLICY=policy.json php -d ffi.enable=true -S 127.0.0.1:8080 example/server.php
//
// Takes a receipt as the body of a POST, and answers whether it grants access.

use ReceiptKit\Verdict;
use ReceiptKit\Verifier;

require_once dirname(__DIR__) . '/autoload.php';

function answer(int $status, bool $grantsAccess, ?string $reason = null): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode(['grantsAccess' => $grantsAccess] + ($reason === null ? [] : ['reason' => $reason]));
}

const LONGEST = 4 << 20;
$receipt = file_get_contents('php://input', false, null, 0, LONGEST + 1);
if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    answer(405, false);
} elseif (strlen($receipt) > LONGEST) {
    answer(413, false);
} else {
    try {
        $verdict = (new Verifier(file_get_contents(getenv('POLICY'))))->verify($receipt);
        if ($verdict->isValid()) {
            // Genuine is not enough: a purchase may have expired, or may have been refunded.
            answer(200, $verdict->grantsAccess);
        } elseif ($verdict->verdict === Verdict::INVALID) {
            answer(200, false, $verdict->code());
        } else {
            // It could not be checked. That is neither valid nor invalid: the sender keeps the receipt.
            header('Retry-After: 60');
            answer(503, false, $verdict->code());
        }
    } catch (Throwable $error) {
        error_log((string) $error);
        answer(500, false);
    }
}
