<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

// For opcache.preload: with the default `ffi.enable=preload` a server may use FFI only in files that were preloaded.
require_once __DIR__ . '/autoload.php';
foreach (glob(__DIR__ . '/src/*.php') as $file) {
    class_exists('ReceiptKit\\' . basename($file, '.php'));
}
