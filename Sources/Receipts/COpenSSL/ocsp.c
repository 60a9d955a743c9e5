// SPDX-License-Identifier: Apache-2.0
#include "COpenSSL.h"

int COpenSSL_OCSP_single_get0_status(OCSP_SINGLERESP *single, COpenSSL_OCSP_times *times) {
  ASN1_GENERALIZEDTIME *revoked = NULL, *this_update = NULL, *next_update = NULL;
  *times = (COpenSSL_OCSP_times){.reason = -1};
  int status = OCSP_single_get0_status(single, &times->reason, &revoked, &this_update, &next_update);
  // ASN1_TIME_diff takes a missing time for the present one.
  times->has_this_update =
      this_update != NULL && COpenSSL_ASN1_TIME_seconds(this_update, &times->this_update);
  times->states_next_update = next_update != NULL;
  times->has_next_update =
      next_update != NULL && COpenSSL_ASN1_TIME_seconds(next_update, &times->next_update);
  times->is_revoked_known = revoked != NULL && COpenSSL_ASN1_TIME_seconds(revoked, &times->revoked);
  return status;
}
