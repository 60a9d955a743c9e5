// SPDX-License-Identifier: Apache-2.0
#include "COpenSSL.h"

CMS_ContentInfo *COpenSSL_CMS_sign_with_digest(
    X509 *signer, EVP_PKEY *key, const EVP_MD *digest, X509 *const *certificates, size_t certificate_count,
    BIO *content, unsigned int flags) {
  CMS_ContentInfo *message = CMS_sign(NULL, NULL, NULL, content, flags | CMS_PARTIAL);
  if (message == NULL) return NULL;
  if (CMS_add1_signer(message, signer, key, digest, flags) == NULL) goto failed;
  for (size_t index = 0; index < certificate_count; index++) {
    if (!CMS_add1_cert(message, certificates[index])) goto failed;
  }
  if (!CMS_final(message, content, NULL, flags)) goto failed;
  return message;
failed:
  CMS_ContentInfo_free(message);
  return NULL;
}
