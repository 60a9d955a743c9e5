<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

// usage: php tests/run.php
//
// The tests of the binding. They need neither Composer nor PHPUnit.

use ReceiptKit\Library;
use ReceiptKit\NotValidException;
use ReceiptKit\ReceiptKit;
use ReceiptKit\ReceiptKitException;
use ReceiptKit\Signer;
use ReceiptKit\Verdict;
use ReceiptKit\Verifier;

require dirname(__DIR__) . '/autoload.php';

const ROOT = __DIR__ . '/../../..';
const VECTORS = ROOT . '/TestVectors';

function check(bool $condition, mixed $shown = ''): void
{
    if (!$condition) {
        throw new RuntimeException('not as expected: ' . print_r($shown, true));
    }
}

/** The exception that a call throws. */
function thrown(callable $call): Throwable
{
    try {
        $call();
    } catch (Throwable $error) {
        return $error;
    }
    throw new RuntimeException('nothing is thrown');
}

/** Accepts the vectors, at an instant at which their subscription is active. */
function policy(): array
{
    return [
        'bundleIds' => ['com.example.app'], 'environments' => ['production', 'sandbox'], 'time' => '2025-10-15T00:00:00Z',
        'trust' => [file_get_contents(VECTORS . '/certificates/es256-root.pem')],
    ];
}

function verifier(): Verifier
{
    return new Verifier(policy());
}

function valid(): string
{
    return file_get_contents(VECTORS . '/signed-transaction/valid.jws');
}

function undetermined(): string
{
    return file_get_contents(VECTORS . '/google-play-purchase/key-missing.json');
}

function resident(): int
{
    return (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096;
}

/** A server of PHP with the default `ffi.enable=preload`, and what it answers to each receipt. */
function served(array $options, array $receipts): array
{
    $policy = tempnam(sys_get_temp_dir(), 'policy');
    file_put_contents($policy, json_encode(policy()));
    $socket = stream_socket_server('tcp://127.0.0.1:0');
    $address = stream_socket_get_name($socket, false);
    fclose($socket);
    $command = [PHP_BINARY, ...$options, '-S', $address, dirname(__DIR__) . '/example/server.php'];
    $log = tempnam(sys_get_temp_dir(), 'log');
    $server = proc_open($command, [['file', '/dev/null', 'r'], ['file', $log, 'w'], ['file', $log, 'w']], $pipes, null, ['POLICY' => $policy] + getenv());
    try {
        for ($attempt = 0; !($connection = @stream_socket_client("tcp://$address")); $attempt++) {
            check($attempt < 200, file_get_contents($log));
            usleep(50_000);
        }
        fclose($connection);
        return array_map(static function (string $receipt) use ($address): array {
            $http = ['method' => 'POST', 'header' => 'Content-Type: application/octet-stream', 'content' => $receipt, 'ignore_errors' => true];
            $body = file_get_contents("http://$address/", false, stream_context_create(['http' => $http]));
            return [(int) explode(' ', $http_response_header[0])[1], json_decode($body, true)];
        }, $receipts);
    } finally {
        proc_terminate($server);
        proc_close($server);
        array_map('unlink', [$policy, $log]);
    }
}

$tests = [
    'the declarations are those of the header' => static function (): void {
        $header = getenv('RECEIPTKIT_HEADER') ?: ROOT . '/Sources/Library/CReceiptKit/include/receiptkit.h';
        $content = preg_replace(['~/\*.*?\*/~s', '~^#.*$~m', '~extern "C" \{|^\}$|enum \{.*?\};~ms'], '', file_get_contents($header));
        $plain = static fn (string $text): string => trim(preg_replace(['/\s+/', '/\( /'], [' ', '('], $text));
        check($plain($content) === $plain(Library::DECLARATIONS), $plain($content));
    },
    'a valid receipt' => static function (): void {
        $verdict = verifier()->verify(valid());
        check($verdict->isValid() && $verdict->grantsAccess && $verdict->standing === 'active' && $verdict->reason === null, $verdict->json);
        check($verdict->transactions[0]['transactionId'] === '2000000001' && $verdict->toArray()['signer']['algorithm'] === 'ES256');
        check(json_decode(json_encode($verdict)) == json_decode($verdict->json));
        check(thrown(static function () use ($verdict): void {
            $verdict->verdict = 'valid';
        }) instanceof Error);
    },
    'what is not valid grants nothing' => static function (): void {
        $verifier = verifier();
        foreach (['', "\0", "\xff\xfe", str_repeat("\0", 17 << 20), valid() . 'A'] as $receipt) {
            $verdict = $verifier->verify($receipt);
            check($verdict->verdict === 'invalid' && !$verdict->isValid() && !$verdict->grantsAccess && $verdict->code() !== null, $verdict->json);
        }
        $verdict = $verifier->verify(undetermined());
        check($verdict->verdict === 'undetermined' && !$verdict->isValid() && !$verdict->grantsAccess, $verdict->json);
    },
    'a verdict contradicts no status' => static function (): void {
        foreach ([[0, '{"verdict":"invalid"}'], [1, '{"verdict":"valid"}'], [3, '{"verdict":"valid"}'], [0, '{}'], [0, '[]'], [0, '7'], [0, '']] as $wrong) {
            check(thrown(static fn () => new Verdict(...$wrong)) instanceof ReceiptKitException, $wrong);
        }
    },
    'many receipts' => static function (): void {
        $verifier = verifier();
        $verdicts = $verifier->verifyMany(['a' => valid(), '', 'x', 'b' => valid(), '']);
        check(array_map(static fn (Verdict $each): bool => $each->isValid(), $verdicts) === [true, false, false, true, false], $verdicts);
        check($verifier->verifyMany([]) === []);
        check(thrown(static fn () => $verifier->verifyMany([valid(), null])) instanceof TypeError);
    },
    'the payload' => static function (): void {
        check(json_decode(verifier()->payload(valid()), true)['transactionId'] === '2000000001');
        $error = thrown(static fn () => verifier()->payload('x'));
        check($error instanceof NotValidException && $error->verdict->verdict === 'invalid' && $error->status === 1, $error);
        check(thrown(static fn () => verifier()->payload(undetermined()))->status === 2);
    },
    'a wrong policy' => static function (): void {
        $wrong = [
            'unexpected' => policy() + ['bundleIDs' => []], 'truncated' => '{', 'malformed-certificate' => ['bundleIds' => ['a'], 'trust' => ['x']],
            'usage' => ['bundleIds' => ["\xff"]],
        ];
        foreach ($wrong as $code => $policy) {
            $error = thrown(static fn () => new Verifier($policy));
            check($error instanceof ReceiptKitException && $error->errorCode === $code && $error->status >= 64, $error);
        }
        check(thrown(static fn () => new Verifier(policy() + ['x' => 1]))->place === '$.x');
        foreach (['', 'null', "\xff", [], "{\"bundleIds\":[\"\xff\"]}"] as $policy) {
            check(thrown(static fn () => new Verifier($policy)) instanceof ReceiptKitException, $policy);
        }
    },
    'wrong types' => static function (): void {
        $verifier = verifier();
        foreach ([null, 7, [], new stdClass()] as $wrong) {
            check(thrown(static fn () => $verifier->verify($wrong)) instanceof TypeError);
            check(thrown(static fn () => $verifier->payload($wrong)) instanceof TypeError);
            check(thrown(static fn () => ReceiptKit::inspectUnverified($wrong)) instanceof TypeError);
        }
        check(thrown(static fn () => new Verifier(null)) instanceof TypeError);
    },
    'a closed verifier' => static function (): void {
        $verifier = verifier();
        $verifier->close();
        $verifier->close();
        foreach (['verify', 'payload'] as $method) {
            check(thrown(static fn () => $verifier->$method(valid()))->status === 64);
        }
        check(thrown(static fn () => $verifier->verifyMany([])) instanceof ReceiptKitException);
        check(thrown(static fn () => clone verifier()) instanceof Error);
        check(thrown(static fn () => serialize(verifier())) instanceof LogicException);
        check(thrown(static fn () => unserialize('O:19:"ReceiptKit\Verifier":0:{}')) instanceof LogicException);
        $raw = (new ReflectionClass(Verifier::class))->newInstanceWithoutConstructor();
        check(thrown(static fn () => $raw->verify('x')) instanceof Throwable);
    },
    'nothing is kept of a call' => static function (): void {
        $receipt = valid();
        // What is in it is as long.
        $large = json_encode(['data' => json_encode(['packageName' => str_repeat('x', 1_000_000)]), 'signature' => 'AAAA']);
        $run = static function () use ($receipt, $large): void {
            for ($count = 0; $count < 100; $count++) {
                (new Verifier(policy()))->verify($receipt);
                ReceiptKit::inspectUnverified($large);
                thrown(static fn () => new Verifier('{'));
            }
        };
        $run();
        $before = resident();
        $run();
        check(resident() - $before < 48 << 20, resident() - $before);
    },
    'children of a fork' => static function (): void {
        if (!function_exists('pcntl_fork')) {
            echo "SKIPPED: pcntl is not installed\n";
            return;
        }
        $verifier = verifier();
        $receipt = valid();
        check($verifier->verify($receipt)->isValid());
        $children = [];
        for ($count = 0; $count < 4; $count++) {
            $child = pcntl_fork();
            if ($child === 0) {
                $isRight = $verifier->verify($receipt)->isValid() && count($verifier->verifyMany([$receipt, 'x'])) === 2;
                $verifier->close();
                exit($isRight ? 7 : 1);
            }
            $children[] = $child;
        }
        foreach ($children as $child) {
            pcntl_waitpid($child, $status);
            check(pcntl_wifexited($status) && pcntl_wexitstatus($status) === 7, $status);
        }
        // The children closed their own.
        check($verifier->verify($receipt)->isValid());
    },
    'an inspection' => static function (): void {
        $content = ReceiptKit::inspectUnverified(valid());
        check($content['verified'] === false && str_contains(json_encode($content), '7e3fb204'), $content);
        check(!str_contains(json_encode(ReceiptKit::inspectUnverified(valid(), redact: true)), '7e3fb204'));
        check(thrown(static fn () => ReceiptKit::inspectUnverified(''))->status === 1);
    },
    'the extension openssl signs, before and after' => static function (): void {
        foreach ([1, 2] as $time) {
            $key = openssl_pkey_new(['private_key_bits' => 2048]);
            openssl_pkey_export($key, $private);
            $public = openssl_pkey_get_details($key)['key'];
            check(openssl_sign('x', $signature, $key, 'sha256') && openssl_verify('x', $signature, $public, 'sha256') === 1);
            $signer = new Signer(['privateKey' => $private]);
            $signed = $signer->sign('google-play-purchase', [
                'orderId' => 'GPA.1', 'packageName' => 'com.example.app', 'productId' => 'gems', 'purchaseTime' => 1759302550000, 'purchaseState' => 0,
                'purchaseToken' => 't',
            ]);
            $keys = [['package' => 'com.example.app', 'key' => $public]];
            $verdict = (new Verifier(['bundleIds' => ['com.example.app'], 'unstatedEnvironment' => 'accept', 'playKeys' => $keys]))->verify($signed->receipt);
            check($verdict->isValid() && $verdict->transactions[0]['productId'] === 'gems', $verdict->json);
            check(thrown(static fn () => $signer->sign('nonsense', '{}'))->place === '$.format');
            foreach (['{', '', '{},"pss":true', '{}}'] as $wrong) {
                check(thrown(static fn () => $signer->sign('google-play-purchase', $wrong))->place === '$.receipt');
            }
        }
        $error = thrown(static fn () => new Signer(['privateKey' => 'secret-of-this-test']));
        check(!str_contains((string) $error, 'secret-of') && $error->status >= 64, (string) $error);
    },
    // A proof and its key are given by Tests/Interoperability.
    'proofs' => static function (): void {
        $key = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
        $check = ReceiptKit::checkProof('no proof', key: $key);
        check(!$check->isProven && $check->message !== null, $check);
        foreach ([[], ['key' => 'x'], ['policy' => 'x'], ['key' => $key, 'policy' => 'x']] as $wrong) {
            check(thrown(static fn () => ReceiptKit::checkProof('', ...$wrong)) instanceof ReceiptKitException);
        }
        if (!getenv('RECEIPTKIT_TEST_PROOF')) {
            echo "SKIPPED: RECEIPTKIT_TEST_PROOF is not set\n";
            return;
        }
        $proof = file_get_contents(getenv('RECEIPTKIT_TEST_PROOF'));
        $key = trim(file_get_contents(getenv('RECEIPTKIT_TEST_PROOF_KEY')));
        check(ReceiptKit::checkProof($proof, key: $key)->isProven);
        check(!ReceiptKit::checkProof($proof, key: $key, receipt: 'another')->isProven);
    },
    'the version' => static fn () => check(isset(ReceiptKit::version()['toolVersion'], ReceiptKit::version()['libcrypto'])),
    'a library that is none' => static function (): void {
        foreach (['/nowhere/libreceiptkit.so', __FILE__, 'libm.so.6'] as $path) {
            check(thrown(static fn () => ReceiptKit::load($path)) instanceof ReceiptKitException, $path);
        }
        check(verifier()->verify(valid())->isValid());
    },
    'a server with preloading' => static function (): void {
        if (!extension_loaded('Zend OPcache')) {
            echo "SKIPPED: OPcache is not installed\n";
            return;
        }
        $user = posix_getpwuid(posix_geteuid())['name'];
        $options = ['-d', 'ffi.enable=preload', '-d', 'opcache.preload=' . dirname(__DIR__) . '/preload.php', '-d', "opcache.preload_user=$user"];
        $receipts = [valid(), 'x', undetermined()];
        $answers = served($options, $receipts);
        check(array_column($answers, 0) === [200, 200, 503], $answers);
        check(array_map(static fn (array $each): bool => $each[1]['grantsAccess'], $answers) === [true, false, false], $answers);
        // Without it the answer is an error, and grants nothing.
        check(served(['-d', 'ffi.enable=preload'], [valid()]) === [[500, ['grantsAccess' => false]]]);
    },
];

$failures = 0;
foreach ($tests as $name => $test) {
    try {
        $test();
        echo "passed: $name\n";
    } catch (Throwable $error) {
        $failures++;
        echo "FAILED: $name\n$error\n";
    }
}
exit($failures === 0 ? 0 : 1);
