// SPDX-License-Identifier: Apache-2.0

/// The acknowledgement of a record: its place in the trail.
public struct AuditAcknowledgement: Sendable, Hashable {
  /// The index of the entry.
  public let index: UInt64
  /// `true` if the same verdict on the same receipt under the same policy was recorded already.
  ///
  /// Then `index` is the index of that entry, and nothing was added.
  public let isRepeat: Bool

  /// Creates an acknowledgement, for tests and stand-ins.
  package init(index: UInt64, isRepeat: Bool) {
    self.index = index
    self.isRepeat = isRepeat
  }
}

/// The condition under which an append is acknowledged.
public enum AcknowledgementMode: String, Sendable, Hashable, CaseIterable {
  /// The entry survives a power loss.
  ///
  /// A checkpoint that includes it follows within the trail's checkpoint interval.
  case durable
  /// The entry is durable, and a signed checkpoint that includes it is published: from then on nobody can deny the
  /// entry.
  case checkpointed
  /// In addition, as many witnesses as the policy requires cosigned such a checkpoint.
  case witnessed
}
