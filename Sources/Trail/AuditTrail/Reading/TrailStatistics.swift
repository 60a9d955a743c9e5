// SPDX-License-Identifier: Apache-2.0

/// The size of a trail.
package struct TrailStatistics: Sendable, Hashable {
  /// The number of entries.
  package let entryCount: UInt64
  /// The number of entries that the newest published checkpoint covers.
  package let checkpointSize: UInt64
  /// The number of bytes that the trail occupies, including index and tree.
  package let storedByteCount: UInt64
  /// The time of the first entry, in milliseconds since 1970; `nil` if there are no entries.
  package let oldestTime: Int64?
  /// The time of the newest entry, in milliseconds since 1970; `nil` if there are no entries.
  package let newestTime: Int64?
}
