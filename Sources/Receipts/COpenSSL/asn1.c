// SPDX-License-Identifier: Apache-2.0
#include "COpenSSL.h"

unsigned long COpenSSL_XN_FLAG_RFC2253(void) { return XN_FLAG_RFC2253; }

const uint8_t *COpenSSL_ASN1_STRING_get0_data(const void *string, size_t *length) {
  int count = ASN1_STRING_length((const ASN1_STRING *)string);
  *length = count > 0 ? (size_t)count : 0;
  return ASN1_STRING_get0_data((const ASN1_STRING *)string);
}

int COpenSSL_ASN1_TIME_seconds(const void *time, int64_t *seconds) {
  int days = 0, rest = 0;
  ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
  int done = epoch != NULL && ASN1_TIME_diff(&days, &rest, epoch, (const ASN1_TIME *)time);
  ASN1_TIME_free(epoch);
  *seconds = (int64_t)days * 86400 + rest;
  return done;
}

long COpenSSL_ASN1_ENUMERATED_get(const void *enumerated) {
  return ASN1_ENUMERATED_get((const ASN1_ENUMERATED *)enumerated);
}

void COpenSSL_ASN1_ENUMERATED_free(void *enumerated) { ASN1_ENUMERATED_free((ASN1_ENUMERATED *)enumerated); }
