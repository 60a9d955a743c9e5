<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace ReceiptKit;

/**
 * The verdict on one receipt. What an invalid receipt states is left out: nothing of it was verified.
 *
 * In PHP every object is true in a condition, this one too: ask `isValid()`.
 */
final class Verdict implements \JsonSerializable
{
    public const VALID = 'valid';
    public const INVALID = 'invalid';
    public const UNDETERMINED = 'undetermined';

    /** `valid`, `invalid` or `undetermined`. */
    public readonly string $verdict;
    /** The kind of receipt; of an invalid one what it claims to be. */
    public readonly ?string $format;
    /** @var array{code: string, message: string, place?: string}|null why it is not valid */
    public readonly ?array $reason;
    /** Of an undetermined one: whether trying again later may give an answer. */
    public readonly bool $retryable;
    public readonly ?string $environment;
    public readonly ?string $bundleId;
    /** When the receipt was signed, in ISO 8601. */
    public readonly ?string $signedDate;
    /** Whether what was bought still stands, such as `active`; `null` where there is no purchase. */
    public readonly ?string $standing;
    /** Whether the receipt is valid and a purchase in it is active. Grant nothing without it. */
    public readonly bool $grantsAccess;
    /** @var list<array<string, mixed>> the purchases, by Apple's names */
    public readonly array $transactions;
    /** @var array<string, mixed> */
    private readonly array $members;

    /**
     * @internal
     * @param string $json the whole object `verdict`
     */
    public function __construct(int $status, public readonly string $json)
    {
        $members = Library::members($json);
        $word = [Library::VALID => self::VALID, Library::INVALID => self::INVALID, Library::UNDETERMINED => self::UNDETERMINED][$status] ?? null;
        if ($word === null || ($members['verdict'] ?? null) !== $word) {
            throw Library::internal("A verdict contradicts the status $status.");
        }
        $this->members = $members;
        $this->verdict = $word;
        $this->format = $members['format'] ?? null;
        $this->reason = $members['reason'] ?? null;
        $this->retryable = $members['retryable'] ?? false;
        $this->environment = $members['environment'] ?? null;
        $this->bundleId = $members['bundleId'] ?? null;
        $this->signedDate = $members['signedDate'] ?? null;
        $this->standing = $members['standing'] ?? null;
        $this->grantsAccess = $word === self::VALID && ($members['grantsAccess'] ?? false) === true;
        $this->transactions = $members['transactions'] ?? [];
    }

    /** Whether the receipt is genuine and satisfies the policy. */
    public function isValid(): bool
    {
        return $this->verdict === self::VALID;
    }

    /** The stable code of the reason why it is not valid. */
    public function code(): ?string
    {
        return $this->reason['code'] ?? null;
    }

    /** @return array<string, mixed> every member of the object `verdict` */
    public function toArray(): array
    {
        return $this->members;
    }

    public function jsonSerialize(): array
    {
        return $this->members;
    }
}
