// SPDX-License-Identifier: Apache-2.0

#ifndef CPOSTGRESQL_H
#define CPOSTGRESQL_H

#ifdef RECEIPTKIT_POSTGRESQL
#include <postgresql/libpq-fe.h>
#endif

#endif
