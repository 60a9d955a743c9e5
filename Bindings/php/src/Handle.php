<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace ReceiptKit;

/**
 * A verifier or signer of the library, which is freed with its object.
 *
 * @internal
 */
abstract class Handle
{
    protected readonly Library $library;
    private int $handle = 0;

    protected function __construct(string $function, #[\SensitiveParameter] array|string $document)
    {
        $this->library = Library::get();
        $this->handle = $this->library->create($function, Library::document($document));
    }

    protected function handle(): int
    {
        return $this->handle ?: throw new ReceiptKitException('usage', 'The verifier or signer is closed.', Library::USAGE);
    }

    /** Frees it. A second call does nothing; other calls fail from now on. */
    public function close(): void
    {
        [$handle, $this->handle] = [$this->handle, 0];
        if ($handle !== 0) {
            $this->library->free($handle);
        }
    }

    public function __destruct()
    {
        $this->close();
    }

    private function __clone()
    {
    }

    public function __serialize(): array
    {
        throw new \LogicException('A verifier or signer belongs to its process and cannot be serialized.');
    }

    public function __unserialize(array $members): void
    {
        throw new \LogicException('A verifier or signer belongs to its process and cannot be serialized.');
    }
}
