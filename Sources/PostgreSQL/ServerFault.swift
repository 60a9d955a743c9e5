// SPDX-License-Identifier: Apache-2.0

/// Why a server could not do what it was asked.
package enum ServerFault: Sendable, Hashable {
  /// The URL cannot be used.
  case unusableURL
  /// There is no connection, or it was lost. Whether the last statement took effect is not known.
  case disconnected
  /// The server refused a statement, with this SQLSTATE (PostgreSQL, appendix A).
  case refused(sqlState: String)
}

/// The error of those who use a server, as ``ServerConnection`` makes it.
package protocol ServerFailure: Error {
  /// Creates an error.
  ///
  /// - Parameters:
  ///   - fault: What went wrong.
  ///   - place: The server, without a password.
  ///   - message: What the server or libpq said, on one line, without a password.
  init(_ fault: ServerFault, at place: String, _ message: String)
}
