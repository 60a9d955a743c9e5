// SPDX-License-Identifier: Apache-2.0

#ifdef RECEIPTKIT_POSTGRESQL
#include "CPostgreSQL.h"

#include <dlfcn.h>
#include <pthread.h>

static CPostgreSQL_library library;
static int is_loaded;

static void load(void) {
#ifdef __APPLE__
  void *handle = dlopen("libpq.5.dylib", RTLD_NOW | RTLD_LOCAL);
#else
  void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
#endif
  if (!handle) return;
#define FIND(name) \
  if (!(*(void **)&library.name = dlsym(handle, #name))) return;
  CPOSTGRESQL_FUNCTIONS(FIND)
#undef FIND
  is_loaded = 1;
}

const CPostgreSQL_library *CPostgreSQL_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded ? &library : 0;
}

static void ignore(void *context, const PGresult *result) {
  (void)context;
  (void)result;
}

void CPostgreSQL_ignore_notices(PGconn *connection) { library.PQsetNoticeReceiver(connection, ignore, 0); }
#endif
