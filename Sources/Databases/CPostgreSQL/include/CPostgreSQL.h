// SPDX-License-Identifier: Apache-2.0

// libpq as it is, and what Swift cannot import of it. Only AuditTrailPostgreSQL imports this module, and only with
// the package trait PostgreSQL: without it, nothing here is read, and libpq need not be installed.

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

// Macros of characters.
static inline int CPostgreSQL_field_sqlstate(void) { return PG_DIAG_SQLSTATE; }
static inline int CPostgreSQL_field_message(void) { return PG_DIAG_MESSAGE_PRIMARY; }

// Waits until a socket can be read, or with `writes` written. Returns what poll(2) does.
static inline int CPostgreSQL_wait(int socket, int writes, int milliseconds) {
  struct pollfd waiting = {.fd = socket, .events = (short)(POLLIN | (writes ? POLLOUT : 0))};
  return poll(&waiting, 1, milliseconds);
}

// libpq writes what the server remarks to standard error; this hears it and keeps silent.
static inline void CPostgreSQL_ignore_notices_receiver(void *context, const PGresult *result) {
  (void)context;
  (void)result;
}
static inline void CPostgreSQL_ignore_notices(PGconn *connection) {
  PQsetNoticeReceiver(connection, CPostgreSQL_ignore_notices_receiver, 0);
}

#endif
