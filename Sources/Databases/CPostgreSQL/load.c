// SPDX-License-Identifier: Apache-2.0

#ifdef RECEIPTKIT_POSTGRESQL
#include "CPostgreSQL.h"

#include <dlfcn.h>
#include <pthread.h>

static CPostgreSQL_library library;
static int is_loaded;

static void load(void) {
#ifdef __APPLE__
  // Homebrew keeps it where the system does not look.
  const char *const names[] = {"libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
                               "/usr/local/opt/libpq/lib/libpq.5.dylib"};
#else
  const char *const names[] = {"libpq.so.5"};
#endif
  void *handle = 0;
  for (size_t i = 0; !handle && i < sizeof names / sizeof *names; i++) handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
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
