// SPDX-License-Identifier: Apache-2.0

/// The size of a trail.
public struct TrailStatistics: Sendable, Hashable {
  /// The number of entries.
  public let entryCount: UInt64
  /// The number of entries that the newest published checkpoint covers.
  public let checkpointSize: UInt64
  /// The number of bytes that the trail occupies, including index and tree.
  public let storedByteCount: UInt64
  /// The time of the first entry, in milliseconds since 1970; `nil` if there are no entries.
  public let oldestTime: Int64?
  /// The time of the newest entry, in milliseconds since 1970; `nil` if there are no entries.
  public let newestTime: Int64?
}
