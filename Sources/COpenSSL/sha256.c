// SPDX-License-Identifier: Apache-2.0
// SHA-256 on the stack. The functions are deprecated, not gone: they are what the provider itself calls, without
// a context, which costs more than the hashing itself when the message is 65 bytes long.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include "COpenSSL.h"

int COpenSSL_SHA256(
    const void *first, size_t first_length, const void *second, size_t second_length, void *digest) {
  SHA256_CTX context;
  return SHA256_Init(&context) && SHA256_Update(&context, first, first_length) &&
         SHA256_Update(&context, second, second_length) && SHA256_Final(digest, &context);
}
