// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  package import AuditTrail
  package import PostgreSQL

  package typealias ServerConnection = PostgreSQL.ServerConnection<StorageError>

  extension StorageError: ServerFailure {
    package init(_ fault: ServerFault, at place: String, _ message: String) {
      let code: Code =
        switch fault {
        case .unusableURL: .unsupported
        case .disconnected, .silent: .unavailable
        case .refused(let sqlState): Self.code(sqlState)
        }
      self.init(code, at: place, message)
    }

    /// Maps an SQLSTATE (PostgreSQL, appendix A) to a storage error code.
    private static func code(_ sqlState: String) -> Code {
      switch sqlState {
      case "53100": .full
      // Retryable: too many connections, lock not available, deadlock, serialization failure, query cancelled.
      case "53300", "55P03", "40P01", "40001", "57014": .busy
      // Administrator's shutdown, crash, server starting, database dropped, idle session or transaction timeout.
      case "57P01", "57P02", "57P03", "57P04", "57P05", "25P03": .unavailable
      case _ where sqlState.hasPrefix("08"): .unavailable
      // The tables are not those of a trail.
      case "42P01", "42703", "3F000": .notATrail
      // The database does not exist.
      case "3D000": .notFound
      case "XX001", "XX002": .corrupt
      default: .inputOutput
      }
    }
  }
#endif
