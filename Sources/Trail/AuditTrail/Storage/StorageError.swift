// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes

/// An error that explains why an operation of a storage failed.
public struct StorageError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of an error.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There is no trail at this place.
    case notFound = "not-found"
    /// The place is taken, or does not contain an audit trail.
    case notATrail = "not-a-trail"
    /// The disk is full.
    ///
    /// Nothing was stored; try again when there is space.
    case full
    /// Others hold the storage for longer than the busy timeout.
    ///
    /// It may be tried again.
    case busy
    /// The server cannot be reached, or ended the connection.
    ///
    /// A write may or may not have taken place.
    case unavailable
    /// Reading failed, or writing failed before the commit: nothing was stored.
    case inputOutput = "input-output"
    /// The commit or its sync failed.
    ///
    /// It is unknown what is stored; the storage must be opened again.
    case syncFailed = "sync-failed"
    /// The stored data cannot be what was written.
    case corrupt
    /// The storage was closed.
    case closed
    /// This build cannot use the storage.
    case unsupported
  }

  /// The kind of the error.
  public let code: Code
  /// The place of the error: a file, a table and key, or a server.
  public let place: String
  /// A description of the error and of its remedy, on one line.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, at place: String = "", _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The code, the place and the message, on one line.
  public var description: String { line }
}

extension StorageError {
  /// Runs a system call on a file, and throws an error that states which operation failed.
  static func doing<Result: ~Copyable>(
    _ what: String, at path: String, code: Code? = nil, _ body: () throws(SystemError) -> Result
  ) throws(StorageError) -> Result {
    do {
      return try body()
    } catch {
      let found: Code = error.isNoPlace ? .notFound : error.isFull ? .full : .inputOutput
      throw StorageError(code ?? found, at: path, "\(what): \(error.reason).")
    }
  }

  /// Syncs a directory, so that the names in it are on disk.
  static func synchronizeDirectory(_ path: String) throws(StorageError) {
    try doing("The directory cannot be synced", at: path, code: .syncFailed) { () throws(SystemError) in
      try FileSystem.synchronizeDirectory(path)
    }
  }

  static func contents(of path: String, limit: Int) throws(StorageError) -> [UInt8]? {
    do throws(SystemError) {
      if let contents = try FileSystem.read(path, limit: limit) { return contents }
    } catch {
      if error.isMissing { return nil }
      throw StorageError(.inputOutput, at: path, "It cannot be read: \(error.reason).")
    }
    throw StorageError(.corrupt, at: path, "It has more than \(limit) bytes, which no such file has.")
  }
}
