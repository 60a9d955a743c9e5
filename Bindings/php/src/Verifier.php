<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace ReceiptKit;

/** Verifies receipts by a policy. Keep it as long as the process lives: it remembers the signers of receipts that it accepted. */
final class Verifier extends Handle
{
    /** @param array<string, mixed>|string $policy a policy or its JSON, at least `['bundleIds' => ['com.example.app']]` */
    public function __construct(array|string $policy)
    {
        parent::__construct('verifier_create', $policy);
    }

    /** Verifies a receipt of any kind. The verdict may be invalid or undetermined: ask `isValid()`. */
    public function verify(string $receipt): Verdict
    {
        [$status, $text] = $this->library->call('verify', $this->handle(), $receipt, strlen($receipt));
        return $status < Library::USAGE ? new Verdict($status, $text) : throw Library::error($status, $text);
    }

    /**
     * Verifies receipts on all processors.
     *
     * @param array<string> $receipts
     * @return list<Verdict> in the order of the receipts
     */
    public function verifyMany(array $receipts): array
    {
        $receipts = (static fn (string ...$each): array => $each)(...array_values($receipts));
        return array_map(static fn (array $found): Verdict => new Verdict(...$found), $this->library->verifyBatch($this->handle(), $receipts));
    }

    /**
     * Verifies a receipt and returns its payload, as the store signed it.
     *
     * @throws NotValidException if the receipt is not valid
     */
    public function payload(string $receipt): string
    {
        [$status, $text] = $this->library->call('payload', $this->handle(), $receipt, strlen($receipt));
        return match (true) {
            $status === Library::VALID => $text,
            $status < Library::USAGE => throw new NotValidException(new Verdict($status, $text), $status),
            default => throw Library::error($status, $text),
        };
    }
}
