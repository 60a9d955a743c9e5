// SPDX-License-Identifier: Apache-2.0
// ECDSA verification under one P-256 key that is used many times (FIPS 186-5 section 6.4.2; SEC 1 section
// 4.1.4).
//
// OpenSSL multiplies the curve's generator G several times faster than any other point, because it holds a
// table of G's multiples. EC_GROUP_set_generator and EC_GROUP_precompute_mult give such a table to any point:
// a copy of the curve whose "generator" is the public key Q. So u1·G and u2·Q both go the fast way.
//
// The curve arithmetic is all OpenSSL's. Nothing here runs in constant time: signatures, digests and public
// keys are public, and no private key comes near.
#ifndef RECEIPTKIT_COPENSSL_FIXED_KEY_H
#define RECEIPTKIT_COPENSSL_FIXED_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

/// The multiples of one public key. Never changes once made: threads may share it.
typedef struct COpenSSL_FixedKey_table COpenSSL_FixedKey_table;

/// Numbers and points to calculate with, for one thread at a time and any table.
typedef struct COpenSSL_FixedKey_scratch COpenSSL_FixedKey_scratch;

/// Whether this libcrypto has the deprecated functions and, for P-256, the curve method that holds a table of
/// the generator from the start. Without the latter a table of the key would gain nothing.
bool COpenSSL_FixedKey_available(void);

/// Computes the table of a P-256 key, which takes milliseconds. NULL where not available, where the key is
/// not a valid one of that curve (EC_KEY_check_key), or where OpenSSL makes no table.
COpenSSL_FixedKey_table *COpenSSL_FixedKey_table_new(const EVP_PKEY *key);
void COpenSSL_FixedKey_table_free(COpenSSL_FixedKey_table *table);

/// For at most `capacity` signatures at once.
COpenSSL_FixedKey_scratch *COpenSSL_FixedKey_scratch_new(size_t capacity);
void COpenSSL_FixedKey_scratch_free(COpenSSL_FixedKey_scratch *scratch);

/// Verifies `count` signatures, 64 bytes r ‖ s each, over as many digests of 32 bytes, into as many answers.
/// Each answer is that of its own signature alone. Returns false where OpenSSL failed (for want of memory,
/// say) or `count` is beyond the capacity: then nothing is known of any of them, and every answer is false.
bool COpenSSL_FixedKey_verify(
    const COpenSSL_FixedKey_table *table, COpenSSL_FixedKey_scratch *scratch, const uint8_t *signatures,
    const uint8_t *digests, size_t count, bool *answers);

#endif
