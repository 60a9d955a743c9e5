<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace ReceiptKit;

use FFI;

/**
 * The C library, which is loaded once in a process.
 *
 * @internal
 */
final class Library
{
    public const VALID = 0;
    public const INVALID = 1;
    public const UNDETERMINED = 2;
    public const USAGE = 64;
    public const INTERNAL = 70;
    public const REDACTED = 1;
    private const ABI_VERSION = 1;

    /** What receiptkit.h declares; tests compare the two. */
    public const DECLARATIONS = <<<'C'
        typedef uint64_t receiptkit_handle;
        typedef struct receiptkit_text {
          char *bytes;
          size_t length;
        } receiptkit_text;
        uint32_t receiptkit_abi_version(void);
        int32_t receiptkit_version(receiptkit_text *result);
        int32_t receiptkit_verifier_create(
            const char *policy, size_t policy_length, receiptkit_handle *verifier, receiptkit_text *result);
        int32_t receiptkit_verify(
            receiptkit_handle verifier, const void *receipt, size_t receipt_length, receiptkit_text *result);
        int32_t receiptkit_verify_batch(
            receiptkit_handle verifier, const void *receipts, const uint64_t *offsets, size_t count, uint8_t *statuses,
            receiptkit_text *result);
        int32_t receiptkit_payload(
            receiptkit_handle verifier, const void *receipt, size_t receipt_length, receiptkit_text *result);
        int32_t receiptkit_inspect(const void *receipt, size_t receipt_length, uint32_t options, receiptkit_text *result);
        int32_t receiptkit_signer_create(
            const char *identity, size_t identity_length, receiptkit_handle *signer, receiptkit_text *result);
        int32_t receiptkit_sign(receiptkit_handle signer, const char *request, size_t request_length, receiptkit_text *result);
        int32_t receiptkit_check_proof(
            const void *proof, size_t proof_length, const char *request, size_t request_length, receiptkit_text *result);
        int32_t receiptkit_handle_free(receiptkit_handle handle);
        void receiptkit_text_free(receiptkit_text *text);
        C;

    private static ?self $loaded = null;

    private function __construct(private readonly FFI $functions)
    {
    }

    public static function get(?string $path = null): self
    {
        if (self::$loaded !== null && $path === null) {
            return self::$loaded;
        }
        try {
            $functions = FFI::cdef(self::DECLARATIONS, $path ?? self::path());
        } catch (FFI\Exception $error) {
            throw new ReceiptKitException('unavailable', "The library cannot be loaded: {$error->getMessage()}", self::INTERNAL, null, $error);
        }
        $version = $functions->receiptkit_abi_version();
        if ($version !== self::ABI_VERSION) {
            throw self::internal("The library has version $version of the interface, and this package needs " . self::ABI_VERSION . '.');
        }
        return self::$loaded = new self($functions);
    }

    private static function path(): string
    {
        $named = getenv('RECEIPTKIT_LIBRARY');
        if ($named !== false && $named !== '') {
            return $named;
        }
        $beside = dirname(__DIR__) . '/libreceiptkit.so';
        return is_file($beside) ? $beside : 'libreceiptkit.so.1';
    }

    /**
     * Calls a function whose last parameter is the result.
     *
     * @return array{int, string} its status and the text
     */
    public function call(string $function, mixed ...$arguments): array
    {
        $text = $this->functions->new('receiptkit_text');
        try {
            $status = $this->functions->{"receiptkit_$function"}(...[...$arguments, FFI::addr($text)]);
            return [$status, FFI::isNull($text->bytes) ? '' : FFI::string($text->bytes, $text->length)];
        } finally {
            $this->functions->receiptkit_text_free(FFI::addr($text));
        }
    }

    /** The text of a call that has no other outcome than success. */
    public function textOf(string $function, mixed ...$arguments): string
    {
        [$status, $text] = $this->call($function, ...$arguments);
        if ($status !== self::VALID) {
            throw self::error($status, $text);
        }
        return $text;
    }

    /** Creates a verifier or a signer and returns its handle. */
    public function create(string $function, string $document): int
    {
        $handle = $this->functions->new('receiptkit_handle');
        $this->textOf($function, $document, strlen($document), FFI::addr($handle));
        return $handle->cdata;
    }

    /**
     * @param list<string> $receipts
     * @return list<array{int, string}> the status and the verdict of each
     */
    public function verifyBatch(int $handle, array $receipts): array
    {
        $count = count($receipts);
        $offsets = $this->functions->new('uint64_t[' . ($count + 1) . ']');
        $statuses = $this->functions->new('uint8_t[' . ($count + 1) . ']');
        $end = 0;
        foreach ($receipts as $index => $receipt) {
            $offsets[$index + 1] = $end += strlen($receipt);
        }
        $text = $this->textOf('verify_batch', $handle, implode('', $receipts), $offsets, $count, $statuses);
        $lines = $text === '' ? [] : explode("\n", substr($text, 0, -1));
        if (count($lines) !== $count) {
            throw self::internal('The library returned ' . count($lines) . " verdicts on $count receipts.");
        }
        return array_map(static fn (int $index): array => [$statuses[$index], $lines[$index]], array_keys($lines));
    }

    public function free(int $handle): void
    {
        $this->functions->receiptkit_handle_free($handle);
    }

    /** The JSON of a value, or a text that is JSON already. */
    public static function document(#[\SensitiveParameter] array|string $value): string
    {
        if (is_string($value)) {
            return $value;
        }
        try {
            return json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        } catch (\JsonException $error) {
            throw new ReceiptKitException('usage', $error->getMessage(), self::USAGE, null, $error);
        }
    }

    /** @return array<string, mixed> */
    public static function members(string $json): array
    {
        try {
            $members = json_decode($json, true, 512, JSON_THROW_ON_ERROR);
        } catch (\JsonException $error) {
            throw self::internal("What the library returned cannot be read: {$error->getMessage()}");
        }
        return is_array($members) ? $members : throw self::internal('What the library returned is no object.');
    }

    public static function error(int $status, string $text): ReceiptKitException
    {
        $error = json_decode($text, true);
        if (!is_array($error) || !isset($error['code'], $error['message'])) {
            return self::internal("The library returned the status $status without an error.");
        }
        return new ReceiptKitException($error['code'], $error['message'], $status, $error['place'] ?? null);
    }

    public static function internal(string $message): ReceiptKitException
    {
        return new ReceiptKitException('internal-fault', $message, self::INTERNAL);
    }
}
