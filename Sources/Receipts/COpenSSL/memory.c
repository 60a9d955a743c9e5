// SPDX-License-Identifier: Apache-2.0
#include "COpenSSL.h"

void COpenSSL_OPENSSL_free(void *pointer) { OPENSSL_free(pointer); }

long COpenSSL_BIO_get_mem_data(BIO *bio, const uint8_t **data) {
  return BIO_get_mem_data(bio, (char **)data);
}

int COpenSSL_ERR_is_refusal(unsigned long code) {
  int library = ERR_GET_LIB(code), reason = ERR_GET_REASON(code);
  // Reasons that every library shares: malloc failure, a fetch that failed, an internal error…; those of a nested
  // library, such as ERR_R_EC_LIB, only pass on what that library reports itself.
  if (library != ERR_LIB_RSA && library != ERR_LIB_EC && library != ERR_LIB_ASN1) return 0;
  return (reason & ERR_RFLAG_COMMON) == 0;
}

int COpenSSL_ERR_is_inability(unsigned long code) {
  if (ERR_FATAL_ERROR(code)) return 1;
  int library = ERR_GET_LIB(code), reason = ERR_GET_REASON(code);
  // Reasons that every library shares; ERR_R_EVP_LIB and its like are numbered as the libraries are.
  if (reason & ERR_RFLAG_COMMON) return (reason & ~(ERR_RFLAG_COMMON | ERR_RFLAG_FATAL)) > ERR_LIB_USER;
  switch (library) {
    case ERR_LIB_RSA:
      return reason == RSA_R_DIGEST_NOT_ALLOWED;
    case ERR_LIB_EC:
    case ERR_LIB_ASN1:
    case ERR_LIB_BN:
    case ERR_LIB_X509:
    case ERR_LIB_OBJ:
    case ERR_LIB_OCSP:
      return 0;
    default:
      return 1;
  }
}
