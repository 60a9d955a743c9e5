// SPDX-License-Identifier: Apache-2.0

// The functions of libpq, found when they are first needed: a program that opens no database of PostgreSQL neither loads
// libpq, with the twenty libraries that it needs, nor needs it installed. Building needs its headers. Only PostgreSQL imports
// this module, and only with the package trait PostgreSQL.

#ifndef CPOSTGRESQL_H
#define CPOSTGRESQL_H

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#elif __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#error "libpq's headers are missing (Debian: apt-get install libpq-dev)"
#endif

#include <poll.h>

#ifndef LIBPQ_HAS_PIPELINING
#error "libpq 14 or later is needed"
#endif

#define CPOSTGRESQL_FUNCTIONS(EACH) \
  EACH(PQclear)                     \
  EACH(PQcmdStatus)                 \
  EACH(PQcmdTuples)                 \
  EACH(PQconnectdbParams)           \
  EACH(PQconninfoFree)              \
  EACH(PQconninfoParse)             \
  EACH(PQconsumeInput)              \
  EACH(PQenterPipelineMode)         \
  EACH(PQerrorMessage)              \
  EACH(PQfinish)                    \
  EACH(PQflush)                     \
  EACH(PQftype)                     \
  EACH(PQgetResult)                 \
  EACH(PQgetisnull)                 \
  EACH(PQgetlength)                 \
  EACH(PQgetvalue)                  \
  EACH(PQisBusy)                    \
  EACH(PQnfields)                   \
  EACH(PQntuples)                   \
  EACH(PQpipelineSync)              \
  EACH(PQresultErrorField)          \
  EACH(PQresultErrorMessage)        \
  EACH(PQresultStatus)              \
  EACH(PQsendPrepare)               \
  EACH(PQsendQuery)                 \
  EACH(PQsendQueryPrepared)         \
  EACH(PQsetNoticeReceiver)         \
  EACH(PQsetnonblocking)            \
  EACH(PQsocket)                    \
  EACH(PQstatus)

typedef struct {
#define CPOSTGRESQL_MEMBER(name) __typeof__(name) *_Nonnull name;
  CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_MEMBER)
#undef CPOSTGRESQL_MEMBER
} CPostgreSQL_library;

// Loads libpq, once. Returns NULL where there is none, or one older than 14.
const CPostgreSQL_library *_Nullable CPostgreSQL_load(void);

// Macros of characters.
static inline int CPostgreSQL_field_sqlstate(void) { return PG_DIAG_SQLSTATE; }
static inline int CPostgreSQL_field_message(void) { return PG_DIAG_MESSAGE_PRIMARY; }

// Waits until a socket can be read, or with `writes` written. Returns what poll(2) does.
static inline int CPostgreSQL_wait(int socket, int writes, int milliseconds) {
  struct pollfd waiting = {.fd = socket, .events = (short)(POLLIN | (writes ? POLLOUT : 0))};
  return poll(&waiting, 1, milliseconds);
}

// Keeps silent about what the server remarks, which libpq writes to standard error otherwise.
void CPostgreSQL_ignore_notices(PGconn *_Nonnull connection);

#endif
