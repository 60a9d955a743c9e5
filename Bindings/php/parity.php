<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

// Prints the verdicts on receipts that it reads, for comparison with those of receipt-tool.

use ReceiptKit\Verdict;
use ReceiptKit\Verifier;

require __DIR__ . '/autoload.php';

function summary(Verdict $verdict): string
{
    $transactions = array_map(static fn (array $purchase): ?string => $purchase['transactionId'] ?? null, $verdict->transactions);
    $found = ['verdict' => $verdict->verdict, 'code' => $verdict->code(), 'place' => $verdict->reason['place'] ?? null, 'transactions' => $transactions];
    return json_encode($found, JSON_THROW_ON_ERROR);
}

while (($line = fgets(STDIN)) !== false) {
    // Objects stay objects, so that the policy is given as it was read.
    $group = json_decode($line, false, 512, JSON_THROW_ON_ERROR);
    $verifier = new Verifier(json_encode($group->policy, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION));
    $receipts = array_map('base64_decode', $group->receipts);
    $together = array_map(summary(...), $verifier->verifyMany($receipts));
    $alone = array_map(static fn (string $receipt): string => summary($verifier->verify($receipt)), $receipts);
    if ($alone !== $together) {
        fwrite(STDERR, 'verify says ' . implode("\n", $alone) . "\nand verifyMany " . implode("\n", $together) . "\n");
        exit(1);
    }
    echo implode('', array_map(static fn (string $each): string => "$each\n", $alone));
}
