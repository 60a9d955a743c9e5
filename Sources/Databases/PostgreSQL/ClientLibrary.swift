// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import CPostgreSQL

  /// The functions of libpq. ``ServerLocation`` loads it, and without a location there is neither a connection nor a result.
  var libpq: CPostgreSQL_library {
    guard let library = unsafe CPostgreSQL_load() else { preconditionFailure("libpq is not loaded") }
    return unsafe library.pointee
  }
#endif
