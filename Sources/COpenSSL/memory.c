// SPDX-License-Identifier: Apache-2.0
#include "COpenSSL.h"

void COpenSSL_OPENSSL_free(void *pointer) { OPENSSL_free(pointer); }

long COpenSSL_BIO_get_mem_data(BIO *bio, const uint8_t **data) {
  return BIO_get_mem_data(bio, (char **)data);
}
