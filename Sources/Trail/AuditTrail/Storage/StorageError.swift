// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes

/// Why a storage could not do what it was asked.
public struct StorageError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There is no trail at this place.
    case notFound = "not-found"
    /// The place is taken, or what is there is not an audit trail.
    case notATrail = "not-a-trail"
    /// The disk is full. Nothing was stored; it may be tried again when there is space.
    case full
    /// Others hold the storage for longer than was waited. It may be tried again.
    case busy
    /// The server cannot be reached or ended the connection. A write may or may not have taken place.
    case unavailable
    /// Reading failed, or writing failed before the commit: nothing was stored.
    case inputOutput = "input-output"
    /// The commit or its sync failed. It is not known what is stored; the storage must be opened again.
    case syncFailed = "sync-failed"
    /// The stored value cannot be the one that was written.
    case corrupt
    /// The storage was closed.
    case closed
    /// This build cannot use such a storage.
    case unsupported
  }

  /// The kind of fault.
  public let code: Code
  /// The place: a file, a table and key, a server.
  public let place: String
  /// A description of the fault and the remedy, on one line.
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
  /// Runs a call of the system on a file, whose error says what could not be done.
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

  /// Returns when the names in a directory are on disk.
  static func synchronizeDirectory(_ path: String) throws(StorageError) {
    try doing("The directory cannot be synced", at: path, code: .syncFailed) { () throws(SystemError) in
      try FileSystem.synchronizeDirectory(path)
    }
  }

  /// The contents of a file; `nil` without one.
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
