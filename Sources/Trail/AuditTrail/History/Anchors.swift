// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// Enters the statements that make histories complete.
struct Anchors: Sendable {
  let writer: TrailWriter
  let publisher: Publisher
  let clock: @Sendable () -> Timestamp

  /// Enters a statement about an original transaction.
  func enter(_ original: String) async throws(AuditError) -> AuditAcknowledgement {
    try publisher.requirePublishing()
    let now = clock().wholeMilliseconds ?? 0
    return try await BlockingWork.run { () throws(AuditError) in try writer.anchor(original, at: now) }
  }
}
