// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes

/// Why content was not fetched, or a queue refused to fetch it.
public struct DownloadError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of fault it is, in a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The queue was not told where downloads go.
    case notEnabled = "not-enabled"
    /// The transaction is not purchased or restored, or is finished, or has no such content.
    case notPurchased = "not-purchased"
    /// The download was never started.
    case unknownDownload = "unknown-download"
    /// The store's description of the content cannot be used: its URL, length or digest.
    case invalidContent = "invalid-content"
    /// The server did not answer, or not usefully. What has come is kept.
    case unreachable
    /// The server will not give it. What has come is kept.
    case refused
    /// What the server said of its answer does not fit the answer.
    case malformedResponse = "malformed-response"
    /// The content changed while it was fetched, again and again. What had come is gone.
    case contentChanged = "content-changed"
    /// The content has not the length that the store says. What had come is gone.
    case lengthMismatch = "length-mismatch"
    /// The content has not the digest that the store says. What had come is gone.
    case checksumMismatch = "checksum-mismatch"
    /// The content is too long for a server that only gives all of it at once.
    case rangesUnsupported = "ranges-unsupported"
    /// The disk is full. What has come is kept.
    case diskFull = "disk-full"
    /// A file could not be read or written. What has come is kept.
    case inputOutput = "input-output"
    /// The storage of the queue failed.
    case storage
    /// A record cannot be what was written: restore the storage from a backup.
    case corrupt
    /// The task was cancelled.
    case cancelled
    /// The queue was closed.
    case closed
  }

  /// The kind of fault.
  public let code: Code
  /// Where: a download, a URL, a file, a record.
  public let place: String
  /// What happened and what to do, on one line.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, at place: String = "", _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The code, the place and the message, on one line.
  public var description: String { line }

  /// Whether what has come is of no use after it.
  var spoilsPartialFile: Bool {
    switch code {
    case .contentChanged, .lengthMismatch, .checksumMismatch: true
    default: false
    }
  }
}
