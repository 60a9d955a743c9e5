// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import GRDB
#endif
