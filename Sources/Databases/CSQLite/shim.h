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

// A function of variable arguments. Text in double quotes is an identifier, never a string; triggers and views of the file
// are not run; a statement cannot damage the file or write to its schema as to a table.
static inline int CSQLite_distrust_schema(sqlite3 *database) {
  const int settings[][2] = {
      {SQLITE_DBCONFIG_DQS_DDL, 0},        {SQLITE_DBCONFIG_DQS_DML, 0},     {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
      {SQLITE_DBCONFIG_ENABLE_VIEW, 0},    {SQLITE_DBCONFIG_DEFENSIVE, 1},   {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
  };
  for (unsigned index = 0; index < sizeof settings / sizeof settings[0]; index++) {
    int now = -1;
    int result = sqlite3_db_config(database, settings[index][0], settings[index][1], &now);
    if (result != SQLITE_OK) return result;
    if (now != settings[index][1]) return SQLITE_ERROR;
  }
  return SQLITE_OK;
}

#endif
