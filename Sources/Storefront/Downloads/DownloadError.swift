// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes

/// Why content was not downloaded.
public struct DownloadError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of fault it is, in a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Downloads were not enabled for the queue.
    case notEnabled = "not-enabled"
    /// The transaction is not purchased or restored, or is finished, or has no such content.
    case notPurchased = "not-purchased"
    /// The download was never started.
    case unknownDownload = "unknown-download"
    /// The store's description of the content cannot be used: its URL, length or digest.
    case invalidContent = "invalid-content"
    /// The server did not answer, or answered that it cannot serve the request now. Received bytes are kept.
    case unreachable
    /// The server refused the request. Received bytes are kept.
    case refused
    /// The response's headers contradict its body or the request.
    case malformedResponse = "malformed-response"
    /// The content changed repeatedly while it was fetched. Received bytes were removed.
    case contentChanged = "content-changed"
    /// The content's length is not what the store stated. Received bytes were removed.
    case lengthMismatch = "length-mismatch"
    /// The content's digest is not what the store stated. Received bytes were removed.
    case checksumMismatch = "checksum-mismatch"
    /// The content is too long for a server without support for range requests.
    case rangesUnsupported = "ranges-unsupported"
    /// The disk is full. Received bytes are kept.
    case diskFull = "disk-full"
    /// A file could not be read or written. Received bytes are kept.
    case inputOutput = "input-output"
    /// The storage of the queue failed.
    case storage
    /// A record is damaged: restore the storage from a backup.
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
  package init(_ code: Code, at place: String = "", _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The code, the place and the message, on one line.
  public var description: String { line }

  /// Whether the partial file must be discarded after this error.
  var invalidatesPartialFile: Bool {
    switch code {
    case .contentChanged, .lengthMismatch, .checksumMismatch: true
    default: false
    }
  }
}
