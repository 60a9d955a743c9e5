// SPDX-License-Identifier: Apache-2.0
// What Swift cannot import from libcrypto: macros, variadics and stack types. No policy lives here.
#ifndef RECEIPTKIT_COPENSSL_H
#define RECEIPTKIT_COPENSSL_H

#include <openssl/cms.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#endif
