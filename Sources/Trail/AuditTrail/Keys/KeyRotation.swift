// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import TransparencyLog

/// Replaces the key of an opened trail.
struct KeyRotation: Sendable {
  let writer: TrailWriter
  let publisher: Publisher
  let clock: @Sendable () -> Timestamp

  /// Lets a new key take over, and publishes a checkpoint that it signs.
  func rotate(to new: NoteSignerKey) async throws(AuditError) -> KeySuccession {
    let keys = writer.context.keys
    guard new.name == keys.origin, !keys.chain.keys.contains(new.verifierKey) else {
      throw AuditError(
        .wrongKey, at: "key",
        "The new key is named \(keys.origin), as the trail is, and was not in use before.")
    }
    let now = clock().wholeMilliseconds ?? 0
    return try await BlockingWork.run { () throws(AuditError) in
      let succession = try writer.rotateKey(to: new, at: now)
      try publisher.publish()
      return succession
    }
  }
}
