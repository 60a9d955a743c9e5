// SPDX-License-Identifier: Apache-2.0

#ifndef RECEIPTKIT_CSQLITE_H
#define RECEIPTKIT_CSQLITE_H

#include <sqlite3.h>

// A macro that Swift does not see: SQLite takes a copy of what it is given.
static inline int CSQLite_bind_copy(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int CSQLite_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, index, text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// A function of variable arguments: text in double quotes is an identifier, never a string.
static inline void CSQLite_refuse_double_quoted_strings(sqlite3 *database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
}

#endif
