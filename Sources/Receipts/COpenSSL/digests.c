// SPDX-License-Identifier: Apache-2.0
// Digests on the stack. The functions are deprecated, not gone: they are what the provider itself calls, without a
// context, which costs more than the hashing itself when the message is 65 bytes long, and whose allocation can fail.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include "COpenSSL.h"

_Static_assert(sizeof(COpenSSL_SHA256_state) == sizeof(SHA256_CTX), "the same size as SHA256_CTX");
_Static_assert(_Alignof(COpenSSL_SHA256_state) >= _Alignof(SHA256_CTX), "aligned as SHA256_CTX");

int COpenSSL_SHA256(
    const void *first, size_t first_length, const void *second, size_t second_length, void *digest) {
  SHA256_CTX context;
  return SHA256_Init(&context) && SHA256_Update(&context, first, first_length) &&
         SHA256_Update(&context, second, second_length) && SHA256_Final(digest, &context);
}

int COpenSSL_SHA256_start(COpenSSL_SHA256_state *state, const void *bytes, size_t length) {
  SHA256_CTX *context = (SHA256_CTX *)state;
  return SHA256_Init(context) && SHA256_Update(context, bytes, length);
}

int COpenSSL_SHA256_finish(const COpenSSL_SHA256_state *state, const void *bytes, size_t length, void *digest) {
  SHA256_CTX context = *(const SHA256_CTX *)state;
  return SHA256_Update(&context, bytes, length) && SHA256_Final(digest, &context);
}

int COpenSSL_SHA1(const void *bytes, size_t length, void *digest) {
  SHA_CTX context;
  return SHA1_Init(&context) && SHA1_Update(&context, bytes, length) && SHA1_Final(digest, &context);
}

int COpenSSL_SHA384(const void *bytes, size_t length, void *digest) {
  SHA512_CTX context;
  return SHA384_Init(&context) && SHA384_Update(&context, bytes, length) && SHA384_Final(digest, &context);
}

int COpenSSL_SHA512(const void *bytes, size_t length, void *digest) {
  SHA512_CTX context;
  return SHA512_Init(&context) && SHA512_Update(&context, bytes, length) && SHA512_Final(digest, &context);
}
