// SPDX-License-Identifier: Apache-2.0

#ifdef RECEIPTKIT_POSTGRESQL
#include "CPostgreSQL.h"
#endif
