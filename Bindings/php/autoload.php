<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

// The classes, where Composer does not load them.
spl_autoload_register(static function (string $class): void {
    if (preg_match('/^ReceiptKit\\\\(\w+)$/D', $class, $found) && is_file($file = __DIR__ . "/src/{$found[1]}.php")) {
        require $file;
    }
});
