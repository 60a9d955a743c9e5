// SPDX-License-Identifier: Apache-2.0

/// The entries of an original transaction, newest first.
package struct EntryHistory: AsyncSequence, Sendable {
  private let reader: Reader
  private let original: String

  init(_ reader: Reader, original: String) {
    self.reader = reader
    self.original = original
  }

  /// Starts with the newest entry.
  package func makeAsyncIterator() -> Iterator { Iterator(reader: reader, original: original) }

  /// Reads the entries in pages.
  package struct Iterator: AsyncIteratorProtocol {
    /// The number of entries in a page.
    private static let pageCount = 100

    private let reader: Reader
    private let original: String
    private var page: ArraySlice<RecordedEntry> = []
    private var before: UInt64? = .max

    fileprivate init(reader: Reader, original: String) {
      self.reader = reader
      self.original = original
    }

    /// Returns the next entry.
    ///
    /// - Throws: ``AuditError``: ``AuditError/Code/tampered`` if the entry is not what was recorded.
    package mutating func next() async throws -> RecordedEntry? {
      if page.isEmpty, let before {
        page = try await reader.read { [original] view in
          try view.history(original: original, before: before, limit: Self.pageCount)
        }[...]
        self.before = page.last?.entry.previous.map { $0 + 1 }
      }
      return page.popFirst()
    }
  }
}
