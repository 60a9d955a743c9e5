// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import AuditTrail
  internal import CPostgreSQL
#endif
