// SPDX-License-Identifier: Apache-2.0

#include "CBuild.h"

// RECEIPTKIT_COMMIT is defined without quotes.
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)

const char *CBuild_commit(void) { return TEXT(RECEIPTKIT_COMMIT); }

bool CBuild_is_quickstart(void) {
#ifdef RECEIPTKIT_QUICKSTART
  return true;
#else
  return false;
#endif
}
