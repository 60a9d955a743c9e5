// SPDX-License-Identifier: Apache-2.0
// Keys and signatures. The functions on EC_KEY and RSA are deprecated, not gone: they are what the providers
// themselves call, without a context, a lock and (for a raw ECDSA signature) a DER encoding on every call.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "COpenSSL.h"

EVP_PKEY *COpenSSL_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }

EVP_PKEY *COpenSSL_EVP_RSA_gen(unsigned int bits) { return EVP_RSA_gen(bits); }

EC_KEY *COpenSSL_EVP_PKEY_get1_EC_KEY(EVP_PKEY *key) { return EVP_PKEY_get1_EC_KEY(key); }

void COpenSSL_EC_KEY_free(EC_KEY *key) { EC_KEY_free(key); }

int COpenSSL_ECDSA_size(const EC_KEY *key) { return ECDSA_size(key); }

int COpenSSL_ECDSA_do_verify(
    const uint8_t *digest, int digest_length, const ECDSA_SIG *signature, EC_KEY *key) {
  return ECDSA_do_verify(digest, digest_length, signature, key);
}

int COpenSSL_ECDSA_verify(
    const uint8_t *digest, int digest_length, const uint8_t *signature, int signature_length, EC_KEY *key) {
  return ECDSA_verify(0, digest, digest_length, signature, signature_length, key);
}

ECDSA_SIG *COpenSSL_ECDSA_do_sign(const uint8_t *digest, int digest_length, EC_KEY *key) {
  return ECDSA_do_sign(digest, digest_length, key);
}

int COpenSSL_ECDSA_sign(
    const uint8_t *digest, int digest_length, uint8_t *signature, unsigned int *signature_length,
    EC_KEY *key) {
  return ECDSA_sign(0, digest, digest_length, signature, signature_length, key);
}

RSA *COpenSSL_EVP_PKEY_get1_RSA(EVP_PKEY *key) { return EVP_PKEY_get1_RSA(key); }

void COpenSSL_RSA_free(RSA *key) { RSA_free(key); }

int COpenSSL_RSA_bits(const RSA *key) { return RSA_bits(key); }

int COpenSSL_RSA_size(const RSA *key) { return RSA_size(key); }

const BIGNUM *COpenSSL_RSA_get0_e(const RSA *key) { return RSA_get0_e(key); }

int COpenSSL_RSA_verify(
    int digest_nid, const uint8_t *digest, unsigned int digest_length, const uint8_t *signature,
    unsigned int signature_length, RSA *key) {
  return RSA_verify(digest_nid, digest, digest_length, signature, signature_length, key);
}

int COpenSSL_RSA_sign(
    int digest_nid, const uint8_t *digest, unsigned int digest_length, uint8_t *signature,
    unsigned int *signature_length, RSA *key) {
  return RSA_sign(digest_nid, digest, digest_length, signature, signature_length, key);
}

static int set_pss(EVP_PKEY_CTX *context, const EVP_MD *algorithm) {
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_signature_md(context, algorithm) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

int COpenSSL_RSA_PSS_verify(
    EVP_PKEY *key, const EVP_MD *algorithm, const uint8_t *digest, size_t digest_length, const uint8_t *signature,
    size_t signature_length) {
  int status = -1;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
  if (context != NULL && EVP_PKEY_verify_init(context) == 1 && set_pss(context, algorithm)) {
    status = EVP_PKEY_verify(context, signature, signature_length, digest, digest_length);
  }
  EVP_PKEY_CTX_free(context);
  return status;
}

int COpenSSL_RSA_PSS_sign(
    EVP_PKEY *key, const EVP_MD *algorithm, const uint8_t *digest, size_t digest_length, uint8_t *signature,
    size_t *signature_length) {
  int status = -1;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
  if (context != NULL && EVP_PKEY_sign_init(context) == 1 && set_pss(context, algorithm)) {
    status = EVP_PKEY_sign(context, signature, signature_length, digest, digest_length);
  }
  EVP_PKEY_CTX_free(context);
  return status;
}

int COpenSSL_RSA_recover_digest(
    EVP_PKEY *key, const EVP_MD *algorithm, const uint8_t *signature, size_t signature_length, uint8_t *digest,
    size_t *digest_length) {
  int status = -1;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
  if (context != NULL && EVP_PKEY_verify_recover_init(context) == 1 &&
      EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1 &&
      EVP_PKEY_CTX_set_signature_md(context, algorithm) == 1) {
    status = EVP_PKEY_verify_recover(context, digest, digest_length, signature, signature_length);
  }
  EVP_PKEY_CTX_free(context);
  return status;
}

int64_t COpenSSL_PBES2_PBKDF2_iterations(const X509_ALGOR *algorithm) {
  const ASN1_OBJECT *object = NULL;
  int type = V_ASN1_UNDEF;
  const void *value = NULL;
  X509_ALGOR_get0(&object, &type, &value, algorithm);
  if (OBJ_obj2nid(object) != NID_pbes2 || type != V_ASN1_SEQUENCE) return -1;

  int64_t iterations = -1;
  PBKDF2PARAM *derivation = NULL;
  PBE2PARAM *parameters = ASN1_item_unpack((const ASN1_STRING *)value, ASN1_ITEM_rptr(PBE2PARAM));
  if (parameters == NULL) return -1;
  X509_ALGOR_get0(&object, &type, &value, parameters->keyfunc);
  if (OBJ_obj2nid(object) == NID_id_pbkdf2 && type == V_ASN1_SEQUENCE) {
    derivation = ASN1_item_unpack((const ASN1_STRING *)value, ASN1_ITEM_rptr(PBKDF2PARAM));
  }
  if (derivation != NULL && !ASN1_INTEGER_get_int64(&iterations, derivation->iter)) iterations = -1;
  PBKDF2PARAM_free(derivation);
  PBE2PARAM_free(parameters);
  return iterations;
}
