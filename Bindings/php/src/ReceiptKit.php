<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace ReceiptKit;

/** What needs no verifier and no signer. */
final class ReceiptKit
{
    private function __construct()
    {
    }

    /** Loads the library from a path, in place of where it is looked for. Verifiers and signers made before keep theirs. */
    public static function load(string $path): void
    {
        Library::get($path);
    }

    /**
     * The contents of a receipt, of which nothing is checked: the members of the object `inspection`. Grant nothing for it.
     *
     * @param bool $redact whether a customer's values are replaced
     * @return array<string, mixed>
     */
    public static function inspectUnverified(string $receipt, bool $redact = false): array
    {
        return Library::members(Library::get()->textOf('inspect', $receipt, strlen($receipt), $redact ? Library::REDACTED : 0));
    }

    /**
     * Checks a proof (C2SP tlog-proof) with either the trail's public key or a witness policy.
     *
     * @param string|null $replacedKeys the proofs by which later keys replaced the key
     * @param string|null $receipt the receipt that the entry must be about
     */
    public static function checkProof(
        string $proof,
        ?string $key = null,
        ?string $policy = null,
        ?string $replacedKeys = null,
        ?string $receipt = null,
    ): ProofCheck {
        $members = ['key' => $key, 'policy' => $policy, 'replacedKeys' => $replacedKeys];
        $members['receipt'] = $receipt === null ? null : base64_encode($receipt);
        $members = array_filter($members, static fn (?string $member): bool => $member !== null);
        $request = $members === [] ? '{}' : Library::document($members);
        [$status, $text] = Library::get()->call('check_proof', $proof, strlen($proof), $request, strlen($request));
        return in_array($status, [Library::VALID, Library::INVALID], true) ? new ProofCheck($status, $text) : throw Library::error($status, $text);
    }

    /** @return array<string, mixed> the members of the object `version` */
    public static function version(): array
    {
        return Library::members(Library::get()->textOf('version'));
    }
}
