<?php
// SPDX-License-Identifier: Apache-2.0
//
// usage: KEY=rk_… php receipts.php verify URL RECEIPT-FILE
//        KEY=rk_… php receipts.php entitlements URL CUSTOMER
//        WEBHOOK_SECRET=whsec_… TAKEN=FOLDER php -S 127.0.0.1:PORT receipts.php
//
// Verifies a receipt, asks what a customer may use, and takes webhooks. PHP 8, no packages. Exit code: 1 refused, 75 not
// decided now: keep the receipt, and grant nothing.
declare(strict_types=1);

final class Undecided extends RuntimeException {}

/** The answer of the server; asks again where that may help. */
function ask(string $url, ?string $body = null): array
{
    $headers = ['Authorization: Bearer ' . getenv('KEY'), 'Connection: close'];
    if ($body !== null) {
        $headers[] = 'Content-Type: application/octet-stream';
    }
    $options = [
        'method' => $body === null ? 'GET' : 'POST', 'header' => $headers, 'content' => $body ?? '', 'timeout' => 10,
        'protocol_version' => 1.1, 'ignore_errors' => true,
        // The key must go to no other server.
        'follow_location' => 0,
    ];
    foreach ([1, 2, null] as $pause) {
        $http_response_header = [];
        $content = @file_get_contents($url, false, stream_context_create(['http' => $options]), 0, 8 << 20);
        $status = (int) (explode(' ', $http_response_header[0] ?? '', 3)[1] ?? 0);
        $length = preg_match('/^Content-Length: *(\d+)$/im', implode("\n", $http_response_header), $found) ? (int) $found[1] : null;
        // An answer that ended early is none.
        $isWhole = $content !== false && ($length === null || $length === strlen($content));
        $answer = $isWhole ? json_decode($content, true, 64) : null;
        if ($status === 200 && is_array($answer)) {
            return $answer;
        }
        if ($status !== 0 && $status !== 200 && $status !== 429 && $status < 500) {
            throw new RuntimeException("$status " . substr((string) $content, 0, 10000));
        }
        if ($pause === null) {
            break;
        }
        foreach ($http_response_header as $line) {
            if (preg_match('/^Retry-After: *(\d{1,4})$/i', $line, $found)) {
                $pause = max($pause, (int) $found[1]);
            }
        }
        sleep($pause);
    }
    throw new Undecided('no answer');
}

function verify(string $url, string $file): int
{
    $receipt = file_get_contents($file);
    foreach ([1, 2, 0] as $pause) {
        $verdict = ask("$url/v1/verify", $receipt);
        if ($verdict['verdict'] === 'valid') {
            // Genuine is not enough: a purchase may have expired, or may have been refunded.
            foreach ($verdict['transactions'] ?? [] as $purchase) {
                if (($purchase['grantsAccess'] ?? false) === true) {
                    echo "grant {$purchase['productId']} × {$purchase['remainingQuantity']}\n";
                }
            }
            return 0;
        }
        if ($verdict['verdict'] === 'invalid') {
            echo "refuse: {$verdict['reason']['code']}\n";
            return 1;
        }
        // It could not be checked. That is neither valid nor invalid.
        if (($verdict['retryable'] ?? false) !== true) {
            break;
        }
        sleep($pause);
    }
    throw new Undecided('keep the receipt');
}

function entitlements(string $url, string $customer): int
{
    foreach (ask("$url/v1/customers/" . rawurlencode($customer) . '/entitlements')['access'] ?? [] as $access) {
        echo $access['name'], ' ', $access['grantsAccess'] ? 'yes' : 'no', "\n";
    }
    return 0;
}

/** Whether the signature of a webhook is right (https://www.standardwebhooks.com), and not old. */
function isSigned(string $body): bool
{
    [$id, $sent, $signatures] = array_map(fn ($name) => $_SERVER["HTTP_WEBHOOK_$name"] ?? '', ['ID', 'TIMESTAMP', 'SIGNATURE']);
    if (!preg_match('/^[0-9]{1,12}$/D', $sent) || abs(time() - (int) $sent) > 300) {
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', (string) getenv('WEBHOOK_SECRET')), true);
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", $key, true));
    foreach (explode(' ', $signatures) as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

if (PHP_SAPI === 'cli-server') {
    $body = file_get_contents('php://input', false, null, 0, 1 << 20);
    if (!isSigned($body)) {
        http_response_code(400);
        return true;
    }
    // The same change may come again: its identifier stays. In a database, in the commit that does the work.
    $file = getenv('TAKEN') . '/' . hash('sha256', $_SERVER['HTTP_WEBHOOK_ID']);
    if ($taken = @fopen($file, 'x')) {
        $change = json_decode($body, true);
        file_put_contents('php://stdout', "{$change['type']} {$change['data']['customer']}\n");
        fclose($taken);
    }
    http_response_code(204);
    return true;
}

$command = $argv[1] ?? '';
if (!in_array($command, ['verify', 'entitlements'], true) || count($argv) !== 4) {
    fwrite(STDERR, "usage: receipts.php verify URL RECEIPT-FILE | entitlements URL CUSTOMER\n");
    exit(64);
}
try {
    exit($command($argv[2], $argv[3]));
} catch (Undecided $error) {
    echo "undecided: {$error->getMessage()}\n";
    exit(75);
} catch (RuntimeException $error) {
    echo "failed: {$error->getMessage()}\n";
    exit(1);
}
