// SPDX-License-Identifier: Apache-2.0

#ifdef RECEIPTKIT_POSTGRESQL
#include "CPostgreSQL.h"

#include <dlfcn.h>
#include <pthread.h>

// The functions of libpq that Swift calls, each defined here to call libpq's. libpq brings two dozen libraries, and
// linking with it makes every command start a fifth slower, even one that uses no server.
#define LIBPQ(FUNCTION)                                                                                           \
  FUNCTION(void, PQclear, (PGresult * result), (result))                                                          \
  FUNCTION(char *, PQcmdStatus, (PGresult * result), (result))                                                    \
  FUNCTION(char *, PQcmdTuples, (PGresult * result), (result))                                                    \
  FUNCTION(PGconn *, PQconnectdbParams, (const char *const *keys, const char *const *values, int expand),         \
           (keys, values, expand))                                                                                \
  FUNCTION(void, PQconninfoFree, (PQconninfoOption * options), (options))                                         \
  FUNCTION(PQconninfoOption *, PQconninfoParse, (const char *text, char **message), (text, message))              \
  FUNCTION(int, PQconsumeInput, (PGconn * connection), (connection))                                              \
  FUNCTION(int, PQenterPipelineMode, (PGconn * connection), (connection))                                         \
  FUNCTION(char *, PQerrorMessage, (const PGconn *connection), (connection))                                      \
  FUNCTION(void, PQfinish, (PGconn * connection), (connection))                                                   \
  FUNCTION(int, PQflush, (PGconn * connection), (connection))                                                     \
  FUNCTION(Oid, PQftype, (const PGresult *result, int column), (result, column))                                  \
  FUNCTION(PGresult *, PQgetResult, (PGconn * connection), (connection))                                          \
  FUNCTION(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column))                \
  FUNCTION(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column))                \
  FUNCTION(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column))              \
  FUNCTION(int, PQisBusy, (PGconn * connection), (connection))                                                    \
  FUNCTION(int, PQnfields, (const PGresult *result), (result))                                                    \
  FUNCTION(int, PQntuples, (const PGresult *result), (result))                                                    \
  FUNCTION(int, PQpipelineSync, (PGconn * connection), (connection))                                              \
  FUNCTION(char *, PQresultErrorField, (const PGresult *result, int field), (result, field))                      \
  FUNCTION(char *, PQresultErrorMessage, (const PGresult *result), (result))                                      \
  FUNCTION(ExecStatusType, PQresultStatus, (const PGresult *result), (result))                                    \
  FUNCTION(int, PQsendPrepare,                                                                                    \
           (PGconn * connection, const char *name, const char *query, int count, const Oid *types),               \
           (connection, name, query, count, types))                                                               \
  FUNCTION(int, PQsendQuery, (PGconn * connection, const char *query), (connection, query))                       \
  FUNCTION(int, PQsendQueryPrepared,                                                                              \
           (PGconn * connection, const char *name, int count, const char *const *values, const int *lengths,      \
            const int *formats, int resultFormat),                                                                \
           (connection, name, count, values, lengths, formats, resultFormat))                                     \
  FUNCTION(PQnoticeReceiver, PQsetNoticeReceiver,                                                                 \
           (PGconn * connection, PQnoticeReceiver receiver, void *context), (connection, receiver, context))      \
  FUNCTION(int, PQsetnonblocking, (PGconn * connection, int isNonblocking), (connection, isNonblocking))          \
  FUNCTION(int, PQsocket, (const PGconn *connection), (connection))                                               \
  FUNCTION(ConnStatusType, PQstatus, (const PGconn *connection), (connection))

#define DEFINE(type, name, parameters, arguments) \
  static type(*loaded_##name) parameters;         \
  type name parameters { return loaded_##name arguments; }
LIBPQ(DEFINE)

static int is_loaded;

static void load(void) {
#ifdef __APPLE__
  void *library = dlopen("libpq.5.dylib", RTLD_NOW | RTLD_LOCAL);
#else
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
#endif
  if (!library) return;
  int is_complete = 1;
#define FIND(type, name, parameters, arguments)       \
  *(void **)&loaded_##name = dlsym(library, #name);   \
  if (!loaded_##name) is_complete = 0;
  LIBPQ(FIND)
  is_loaded = is_complete;
}

int CPostgreSQL_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded;
}
#endif
