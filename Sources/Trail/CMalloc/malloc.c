// SPDX-License-Identifier: Apache-2.0

#include "CMalloc.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void CMalloc_shareArenas(void) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 2);
#endif
}

void CMalloc_giveBack(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
