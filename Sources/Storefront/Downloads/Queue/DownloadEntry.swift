// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// A download that was started, while the process lives.
struct DownloadEntry {
  var record: DownloadRecord
  /// The length of its partial file.
  var receivedByteCount: Int64 = 0
  /// The work that is being done for it; `nil` while it waits or stands still.
  var work: Work?
  /// How often its content has changed, or its file gone, since it was begun.
  var restartCount = 0

  struct Work {
    /// Which of all works of the queue: what another one does is of no interest any more.
    let number: UInt64
    let task: Task<Void, Never>
    let began: Duration
    let beganAtByteCount: Int64
  }

  init(_ record: DownloadRecord) { self.record = record }

  var content: DownloadableContent { record.content.value }

  /// The names of its files. The identifier may have characters that a name must not.
  var fileName: String { Self.fileName(record.id) }

  static func fileName(_ id: Download.ID) -> String {
    Hexadecimal.encode(Digest.hash(Array(id.rawValue.utf8), using: .sha256))
  }

  func snapshot(now: Duration, files: any DownloadFiles) -> Download {
    let content = content
    let state = state
    return Download(
      transaction: PaymentTransaction.ID(rawValue: record.transaction), index: Int(clamping: record.index),
      content: content, state: state,
      receivedByteCount: state == .finished ? content.contentLength : receivedByteCount,
      timeRemaining: timeRemaining(of: content.contentLength, now: now),
      contentPath: state == .finished ? files.path(of: fileName) : nil,
      error: state == .failed ? record.error?.value : nil)
  }

  private var state: Download.State {
    switch record.state {
    case .paused: .paused
    case .finished: .finished
    case .failed: .failed
    default: work == nil ? .waiting : .active
    }
  }

  /// At the pace since it became active; `nil` until something has come.
  private func timeRemaining(of length: Int64, now: Duration) -> Duration? {
    guard let work, now > work.began, receivedByteCount > work.beganAtByteCount else { return nil }
    let share = Double(length - receivedByteCount) / Double(receivedByteCount - work.beganAtByteCount)
    let seconds = (now - work.began) / .seconds(1) * share
    return .milliseconds(Int64(min(max(seconds * 1000, 0), 1e15)))
  }
}
