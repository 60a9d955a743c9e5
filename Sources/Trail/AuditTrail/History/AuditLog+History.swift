// SPDX-License-Identifier: Apache-2.0

extension AuditLog {
  /// The entries of an original transaction, newest first, read page by page as they are asked for.
  ///
  /// Entries that are appended meanwhile are not among them.
  ///
  /// - Parameter original: The original transaction's identifier.
  /// - Returns: The entries.
  public func history(original: String) -> EntryHistory { EntryHistory(log: self, original: original) }
}

/// The entries of an original transaction, newest first.
public struct EntryHistory: AsyncSequence, Sendable {
  fileprivate let log: AuditLog
  fileprivate let original: String

  /// Begins with the newest.
  public func makeAsyncIterator() -> Iterator { Iterator(history: self) }

  /// Reads on.
  public struct Iterator: AsyncIteratorProtocol {
    /// Entries that are read together.
    private static let pageCount = 100

    fileprivate let history: EntryHistory
    private var page: ArraySlice<RecordedEntry> = []
    private var before: UInt64? = .max

    fileprivate init(history: EntryHistory) { self.history = history }

    /// The next entry.
    ///
    /// - Throws: ``AuditError``: ``AuditError/Code/tampered`` where it is not what was recorded.
    public mutating func next() async throws -> RecordedEntry? {
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
