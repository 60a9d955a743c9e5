// SPDX-License-Identifier: Apache-2.0
// SHA-256 on the stack. The functions are deprecated, not gone: they are what the provider itself calls, without
// a context, which costs more than the hashing itself when the message is 65 bytes long.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <string.h>

#include "COpenSSL.h"

/// A message that fits two blocks with its padding (FIPS 180-4 section 5.1.1) is padded here: the hashes of a tree and
/// of names are of such, and the buffering of SHA256_Update and SHA256_Final takes longer than they do.
static void short_message(
    const void *first, size_t first_length, const void *second, size_t second_length, unsigned char *digest) {
  // FIPS 180-4 section 5.3.3
  SHA256_CTX context = {.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
  unsigned char blocks[2 * SHA256_CBLOCK] = {0};
  const size_t length = first_length + second_length;
  const size_t end = length < SHA256_CBLOCK - 8 ? SHA256_CBLOCK : 2 * SHA256_CBLOCK;
  if (first_length > 0) memcpy(blocks, first, first_length);
  if (second_length > 0) memcpy(blocks + first_length, second, second_length);
  blocks[length] = 0x80;
  blocks[end - 2] = (unsigned char)(length >> 5);
  blocks[end - 1] = (unsigned char)(length << 3);
  for (size_t start = 0; start < end; start += SHA256_CBLOCK) SHA256_Transform(&context, blocks + start);
  for (int word = 0; word < 8; word++) {
    for (int byte = 0; byte < 4; byte++) digest[4 * word + byte] = (unsigned char)(context.h[word] >> (24 - 8 * byte));
  }
  // The message may be a key.
  OPENSSL_cleanse(blocks, end);
}

int COpenSSL_SHA256(
    const void *first, size_t first_length, const void *second, size_t second_length, void *digest) {
  if (first_length < SHA256_CBLOCK && second_length < 2 * SHA256_CBLOCK - 8 - first_length) {
    short_message(first, first_length, second, second_length, digest);
    return 1;
  }
  SHA256_CTX context;
  return SHA256_Init(&context) && SHA256_Update(&context, first, first_length) &&
         SHA256_Update(&context, second, second_length) && SHA256_Final(digest, &context);
}
