// SPDX-License-Identifier: Apache-2.0

/// A download of content that the store hosts (`SKDownload`). It belongs to a transaction that is purchased or
/// restored, and not finished.
///
/// It is a snapshot. Ask the queue for the current state.
public struct Download: Sendable, Hashable, Identifiable {
  /// The identifier of a download in a queue. It stays the same across relaunches.
  public struct ID: Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    init(_ transaction: PaymentTransaction.ID, _ index: Int) { rawValue = "\(transaction.rawValue)/\(index)" }
  }

  /// The state, with StoreKit's numbers (`SKDownloadState`).
  public enum State: Int, Sendable, Hashable, CaseIterable {
    /// Not started, or waiting for its turn (`SKDownloadStateWaiting`).
    case waiting = 0
    /// The content is being fetched (`SKDownloadStateActive`).
    case active = 1
    /// Stopped until it is resumed; received bytes are kept (`SKDownloadStatePaused`).
    case paused = 2
    /// Complete, with the right digest: see ``Download/contentPath`` (`SKDownloadStateFinished`).
    case finished = 3
    /// Stopped by an error: see ``Download/error`` (`SKDownloadStateFailed`).
    case failed = 4
    /// Cancelled; received bytes were removed (`SKDownloadStateCancelled`).
    case cancelled = 5
  }

  /// The transaction of the download (`transaction`).
  public let transaction: PaymentTransaction.ID
  package let index: Int
  /// The content, with its address, length and digest.
  public let content: DownloadableContent
  /// The state (`state`, `downloadState`).
  public internal(set) var state = State.waiting
  package internal(set) var receivedByteCount: Int64 = 0
  /// The estimated time to completion at the rate so far (`timeRemaining`); `nil` if it is unknown.
  public internal(set) var timeRemaining: Duration?
  /// The file with the content (`contentURL`): defined only in ``State/finished``. The queue chooses its name. Move the
  /// file before you finish the transaction.
  public internal(set) var contentPath: String?
  /// The error of the download (`error`): defined only in ``State/failed``.
  public internal(set) var error: DownloadError?
}

extension Download {
  /// The identifier of the download in its queue.
  public var id: ID { ID(transaction, index) }

  /// The content's identifier (`contentIdentifier`).
  public var contentIdentifier: String { content.contentIdentifier }

  /// The content's version (`contentVersion`).
  public var contentVersion: String { content.contentVersion }

  /// The content's length in bytes (`contentLength`).
  public var contentLength: Int64 { content.contentLength }

  /// The received fraction, from 0 to 1 (`progress`). The bytes are verified only in ``State/finished``.
  public var progress: Double {
    if state == .finished { return 1 }
    guard content.contentLength > 0 else { return 0 }
    return min(Double(receivedByteCount) / Double(content.contentLength), 1)
  }
}
