// SPDX-License-Identifier: Apache-2.0

extension AuditLog {
  /// Returns the entries of an original transaction, newest first, read in pages as they are requested.
  ///
  /// Entries that are appended meanwhile are not included.
  ///
  /// - Parameter original: The original transaction's identifier.
  /// - Returns: The entries.
  package func history(original: String) -> EntryHistory { EntryHistory(log: self, original: original) }
}

/// The entries of an original transaction, newest first.
package struct EntryHistory: AsyncSequence, Sendable {
  fileprivate let log: AuditLog
  fileprivate let original: String

  /// Starts with the newest entry.
  package func makeAsyncIterator() -> Iterator { Iterator(history: self) }

  /// Reads the entries in pages.
  package struct Iterator: AsyncIteratorProtocol {
    /// The number of entries in a page.
    private static let pageCount = 100

    fileprivate let history: EntryHistory
    private var page: ArraySlice<RecordedEntry> = []
    private var before: UInt64? = .max

    fileprivate init(history: EntryHistory) { self.history = history }

    /// Returns the next entry.
    ///
    /// - Throws: ``AuditError``: ``AuditError/Code/tampered`` if the entry is not what was recorded.
    package mutating func next() async throws -> RecordedEntry? {
      if page.isEmpty, let before {
        let (log, original) = (history.log, history.original)
        page = try await log.read { view in
          try view.history(original: original, before: before, limit: Self.pageCount)
        }[...]
        self.before = page.last?.entry.previous.map { $0 + 1 }
      }
      return page.popFirst()
    }
  }
}
