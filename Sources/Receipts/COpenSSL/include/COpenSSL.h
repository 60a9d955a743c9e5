// SPDX-License-Identifier: Apache-2.0
// What Swift cannot import from libcrypto: macros, variadic functions, and functions that are deprecated but
// have no equal. Each function bridges exactly the OpenSSL function or macro it is named after; no policy
// lives here.
#ifndef RECEIPTKIT_COPENSSL_H
#define RECEIPTKIT_COPENSSL_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/objects.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "COpenSSLFixedKey.h"

// MARK: Memory (macros)

void COpenSSL_OPENSSL_free(void *pointer);

/// BIO_get_mem_data: the bytes that a memory BIO holds, which stay owned by it.
long COpenSSL_BIO_get_mem_data(BIO *bio, const uint8_t **data);

// MARK: Errors (macros and inline functions)

/// ERR_GET_LIB and ERR_GET_REASON: 1 where the error is one of RSA, EC or ASN.1 about its input, and not one of those
/// that any library reports, such as ERR_R_MALLOC_FAILURE.
int COpenSSL_ERR_is_refusal(unsigned long code);
/// 1 where the error says that something could not be computed: a malloc failure and its like (ERR_FATAL_ERROR), an
/// algorithm that a provider lacks, a digest that the system's policy forbids to signatures. Not those about an input,
/// and not those that only pass on what another library reported, such as ERR_R_EVP_LIB.
int COpenSSL_ERR_is_inability(unsigned long code);

// MARK: Digests (deprecated since 3.0)

/// SHA256_Init, SHA256_Update with `first` and with `second`, SHA256_Final into the 32 bytes of `digest`.
int COpenSSL_SHA256(
    const void *first, size_t first_length, const void *second, size_t second_length, void *digest);

/// Room for a SHA256_CTX.
typedef struct {
  uint64_t words[14];
} COpenSSL_SHA256_state;
/// SHA256_Init, SHA256_Update.
int COpenSSL_SHA256_start(COpenSSL_SHA256_state *state, const void *bytes, size_t length);
/// SHA256_Update and SHA256_Final of a copy of `state`.
int COpenSSL_SHA256_finish(const COpenSSL_SHA256_state *state, const void *bytes, size_t length, void *digest);

/// SHA1_Init, SHA1_Update, SHA1_Final, and the same of the other two.
int COpenSSL_SHA1(const void *bytes, size_t length, void *digest);
int COpenSSL_SHA384(const void *bytes, size_t length, void *digest);
int COpenSSL_SHA512(const void *bytes, size_t length, void *digest);

// MARK: ASN.1 strings (a struct in OpenSSL 3, opaque in OpenSSL 4: Swift sees two different types)

/// ASN1_STRING_get0_data and ASN1_STRING_length: the content, which stays owned by `string`.
const uint8_t *COpenSSL_ASN1_STRING_get0_data(const void *string, size_t *length);
/// ASN1_TIME_diff from 1970-01-01T00:00:00Z to `time`, in seconds; 0 where `time` is not a time.
int COpenSSL_ASN1_TIME_seconds(const void *time, int64_t *seconds);

/// ASN1_ENUMERATED_get: -1 where the number does not fit.
long COpenSSL_ASN1_ENUMERATED_get(const void *enumerated);
/// ASN1_ENUMERATED_free.
void COpenSSL_ASN1_ENUMERATED_free(void *enumerated);

/// XN_FLAG_RFC2253, a macro of several flags.
unsigned long COpenSSL_XN_FLAG_RFC2253(void);

// MARK: Key generation (macros over a variadic function)

EVP_PKEY *COpenSSL_EVP_EC_gen(const char *curve);
EVP_PKEY *COpenSSL_EVP_RSA_gen(unsigned int bits);

// MARK: Elliptic curve keys and signatures (deprecated since 3.0)

EC_KEY *COpenSSL_EVP_PKEY_get1_EC_KEY(EVP_PKEY *key);
void COpenSSL_EC_KEY_free(EC_KEY *key);
int COpenSSL_ECDSA_size(const EC_KEY *key);
int COpenSSL_ECDSA_do_verify(
    const uint8_t *digest, int digest_length, const ECDSA_SIG *signature, EC_KEY *key);
int COpenSSL_ECDSA_verify(
    const uint8_t *digest, int digest_length, const uint8_t *signature, int signature_length, EC_KEY *key);
ECDSA_SIG *COpenSSL_ECDSA_do_sign(const uint8_t *digest, int digest_length, EC_KEY *key);
int COpenSSL_ECDSA_sign(
    const uint8_t *digest, int digest_length, uint8_t *signature, unsigned int *signature_length,
    EC_KEY *key);

// MARK: RSA keys and signatures (deprecated since 3.0)

RSA *COpenSSL_EVP_PKEY_get1_RSA(EVP_PKEY *key);
void COpenSSL_RSA_free(RSA *key);
int COpenSSL_RSA_bits(const RSA *key);
int COpenSSL_RSA_size(const RSA *key);
const BIGNUM *COpenSSL_RSA_get0_e(const RSA *key);
int COpenSSL_RSA_verify(
    int digest_nid, const uint8_t *digest, unsigned int digest_length, const uint8_t *signature,
    unsigned int signature_length, RSA *key);
int COpenSSL_RSA_sign(
    int digest_nid, const uint8_t *digest, unsigned int digest_length, uint8_t *signature,
    unsigned int *signature_length, RSA *key);

// MARK: RSA with an EVP_PKEY_CTX: contexts of their own for each call

/// EVP_PKEY_verify with RSASSA-PSS, MGF1 and salt of the digest: 1 valid, otherwise 0 or negative.
int COpenSSL_RSA_PSS_verify(
    EVP_PKEY *key, const EVP_MD *algorithm, const uint8_t *digest, size_t digest_length, const uint8_t *signature,
    size_t signature_length);
/// EVP_PKEY_sign with RSASSA-PSS, MGF1 and salt of the digest.
int COpenSSL_RSA_PSS_sign(
    EVP_PKEY *key, const EVP_MD *algorithm, const uint8_t *digest, size_t digest_length, uint8_t *signature,
    size_t *signature_length);
/// EVP_PKEY_verify_recover with RSASSA-PKCS1-v1_5: the digest that was signed. `digest` has room for the key's length.
int COpenSSL_RSA_recover_digest(
    EVP_PKEY *key, const EVP_MD *algorithm, const uint8_t *signature, size_t signature_length, uint8_t *digest,
    size_t *digest_length);

// MARK: Encrypted private keys (ASN1_ITEM_rptr is a macro)

/// The iteration count of the PBKDF2 parameters inside PBES2 parameters; -1 where `algorithm` is not PBES2
/// with PBKDF2 or the count does not fit.
int64_t COpenSSL_PBES2_PBKDF2_iterations(const X509_ALGOR *algorithm);

// MARK: Keys in a token (callbacks; engines, deprecated since 3.0 and gone in 4.0)

/// OSSL_STORE_open, which asks for `pin` if it needs one, and OSSL_STORE_load until there is a private key; NULL without.
EVP_PKEY *COpenSSL_OSSL_STORE_load_private_key(const char *uri, char *pin);
/// ENGINE_by_id: 1 where this OpenSSL has engines, and this one among them.
int COpenSSL_ENGINE_is_available(const char *name);
/// ENGINE_by_id, MODULE_PATH if `module` is not NULL, ENGINE_init, ENGINE_load_private_key, which asks for `pin`.
EVP_PKEY *COpenSSL_ENGINE_load_private_key(const char *name, const char *module, const char *uri, char *pin);

// MARK: CMS (the low-level calls take stack types)

/// CMS_sign with the digest chosen, which CMS_sign itself does not let one do: CMS_sign with CMS_PARTIAL,
/// CMS_add1_signer, CMS_add1_cert for each of `certificates`, CMS_final.
CMS_ContentInfo *COpenSSL_CMS_sign_with_digest(
    X509 *signer, EVP_PKEY *key, const EVP_MD *digest, X509 *const *certificates, size_t certificate_count,
    BIO *content, unsigned int flags);

// MARK: OCSP (the times are ASN.1 strings: see above)

/// The times of one answer, in seconds since 1970, and whether each is there and is a time.
typedef struct {
  int64_t this_update, next_update, revoked;
  int has_this_update, has_next_update, is_revoked_known;
  /// Whether there is a nextUpdate, be it a time or not.
  int states_next_update;
  /// CRLReason; -1 without one.
  int reason;
} COpenSSL_OCSP_times;

/// OCSP_single_get0_status: V_OCSP_CERTSTATUS_…, or -1.
int COpenSSL_OCSP_single_get0_status(OCSP_SINGLERESP *single, COpenSSL_OCSP_times *times);

#endif
