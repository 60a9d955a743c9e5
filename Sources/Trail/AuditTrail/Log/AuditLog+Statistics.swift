// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

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

extension AuditLog {
  /// Returns the size of the trail.
  ///
  /// - Throws: ``AuditError``, ``StorageError``.
  package func statistics() throws -> TrailStatistics {
    let stored = try storage.byteCount()
    return try withView { view in
      TrailStatistics(
        entryCount: view.size, checkpointSize: view.checkpoint?.checkpoint.size ?? 0, storedByteCount: stored,
        oldestTime: view.size > 0 ? try view.entry(at: 0).entry.time : nil,
        newestTime: view.size > 0 ? view.state.head.lastTime : nil)
    }
  }
}
