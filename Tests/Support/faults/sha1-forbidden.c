// SPDX-License-Identifier: Apache-2.0
//
// A libcrypto that has SHA-1 as a digest and forbids it to signatures, as RHEL and its kin configure it
// (rh-allow-sha1-signatures = no). SHA1_FORBIDDEN says where that shows: "chain" in X509_verify_cert, "level" the same by a
// security level, "signature" in RSA_verify.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

static int forbids(const char *where) {
  const char *forbidden = getenv("SHA1_FORBIDDEN");
  return forbidden && strcmp(forbidden, where) == 0;
}

// What EVP_DigestVerifyInit_ex leaves there, and what ASN1_item_verify passes on.
static void raise_errors(void) {
  ERR_raise(ERR_LIB_EVP, EVP_R_INVALID_DIGEST);
  ERR_raise(ERR_LIB_ASN1, ERR_R_EVP_LIB);
}

int X509_verify_cert(X509_STORE_CTX *context) {
  static int (*verify)(X509_STORE_CTX *);
  if (!verify) *(void **)&verify = dlsym(RTLD_NEXT, "X509_verify_cert");
  int result = verify(context);
  if (result != 1 || (!forbids("chain") && !forbids("level"))) return result;
  STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(context);
  for (int depth = 0; depth < sk_X509_num(chain) - 1; depth++) {
    int digest = 0;
    OBJ_find_sigid_algs(X509_get_signature_nid(sk_X509_value(chain, depth)), &digest, NULL);
    if (digest != NID_sha1) continue;
    if (forbids("chain")) raise_errors();
    X509_STORE_CTX_set_error(context, forbids("level") ? X509_V_ERR_CA_MD_TOO_WEAK : X509_V_ERR_CERT_SIGNATURE_FAILURE);
    X509_STORE_CTX_set_error_depth(context, depth);
    return 0;
  }
  return result;
}

int RSA_verify(int type, const unsigned char *m, unsigned int m_length, const unsigned char *signature,
               unsigned int length, RSA *rsa) {
  static int (*verify)(int, const unsigned char *, unsigned int, const unsigned char *, unsigned int, RSA *);
  if (!verify) *(void **)&verify = dlsym(RTLD_NEXT, "RSA_verify");
  if (type == NID_sha1 && forbids("signature")) {
    raise_errors();
    return 0;
  }
  return verify(type, m, m_length, signature, length, rsa);
}
