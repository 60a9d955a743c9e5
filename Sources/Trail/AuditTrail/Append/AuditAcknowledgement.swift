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
