<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace ReceiptKit;

/** The answer about a proof of an audit trail. In PHP every object is true in a condition: ask `isProven`. */
final class ProofCheck
{
    /** Whether the proof proves its entry. */
    public readonly bool $isProven;
    /** Why not. */
    public readonly ?string $message;
    /** @var array<string, mixed> */
    private readonly array $members;

    /**
     * @internal
     * @param string $json the whole object `audit-check`
     */
    public function __construct(int $status, public readonly string $json)
    {
        $this->members = Library::members($json);
        $this->isProven = $status === Library::VALID;
        $this->message = $this->members['message'] ?? null;
        if (($this->members['proven'] ?? null) !== $this->isProven) {
            throw Library::internal("The answer about a proof contradicts the status $status.");
        }
    }

    /** @return array<string, mixed> every member of the object `audit-check` */
    public function toArray(): array
    {
        return $this->members;
    }
}
