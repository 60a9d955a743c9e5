// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import CPostgreSQL

  /// The server's answer to one statement, with its values in binary format.
  @safe
  package final class QueryResult {
    private let handle: OpaquePointer

    init(takingOwnership handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe libpq.PQclear(handle) }

    var status: ExecStatusType { unsafe libpq.PQresultStatus(handle) }

    package var rowCount: Int { Int(unsafe libpq.PQntuples(handle)) }

    package var changedRowCount: Int {
      unsafe libpq.PQcmdTuples(handle).flatMap { unsafe Int(String(cString: $0)) } ?? 0
    }

    package var columnCount: Int { Int(unsafe libpq.PQnfields(handle)) }

    package enum ColumnKind: Sendable, Hashable {
      case integer
      case text
      case bytes
      /// The result of a function that returns nothing.
      case void
      /// A type that is not supported here, with its OID (pg_type.dat).
      case other(UInt32)
    }

    package func kind(_ column: Int) -> ColumnKind {
      switch unsafe libpq.PQftype(handle, Int32(column)) {
      case 16, 20, 21, 23: .integer
      case 19, 25, 1042, 1043: .text
      case 17: .bytes
      case 2278: .void
      case let type: .other(type)
      }
    }

    package func isNull(_ row: Int, _ column: Int) -> Bool {
      unsafe libpq.PQgetisnull(handle, Int32(row), Int32(column)) == 1
    }

    /// The tag of the command that was executed, such as `COMMIT`.
    package var command: String { unsafe libpq.PQcmdStatus(handle).map { unsafe String(cString: $0) } ?? "" }

    /// The SQLSTATE of the error (five characters); `nil` if the error is not from the server.
    var sqlState: String? { field(CPostgreSQL_field_sqlstate()) }

    var message: String {
      if let message = field(CPostgreSQL_field_message()) { return message }
      return unsafe libpq.PQresultErrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
    }

    /// The bytes of a value that must not be NULL.
    package func bytes(_ row: Int, _ column: Int) -> [UInt8] {
      let count = Int(unsafe libpq.PQgetlength(handle, Int32(row), Int32(column)))
      guard count > 0, let value = unsafe libpq.PQgetvalue(handle, Int32(row), Int32(column)) else {
        return []
      }
      return unsafe [UInt8](UnsafeRawBufferPointer(start: value, count: count))
    }

    package func text(_ row: Int, _ column: Int) -> String {
      String(decoding: bytes(row, column), as: UTF8.self)
    }

    /// An integer of any width, or a Boolean.
    package func integer(_ row: Int, _ column: Int) -> Int64 {
      let bytes = bytes(row, column)
      let isNegative = bytes.count > 1 && (bytes.first ?? 0) >= 0x80
      return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
    }

    private func field(_ code: Int32) -> String? {
      unsafe libpq.PQresultErrorField(handle, code).map { unsafe String(cString: $0) }
    }
  }
#endif
