// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import ReceiptCrypto

  /// The criteria of a search in the audit trail.
  struct EntrySearch: Sendable {
    /// The name of a query's parameter.
    enum Key: String, CaseIterable, Sendable { case original, transaction, product, receipt, customer }

    var key: (Key, String)?
    var before = UInt64.max
    var limit = 100

    /// A page of entries for which `isWanted` is true, latest first, and the start of the next page, if there is one.
    ///
    /// At most ten thousand entries are examined.
    func page(
      in view: TrailView, where isWanted: (AuditEntry) -> Bool
    ) throws -> (entries: [RecordedEntry], next: UInt64?) {
      var found: [RecordedEntry] = []
      var search = self
      search.limit = 250
      for _ in 0..<40 {
        let batch = try search.candidates(in: view)
        for recorded in batch where isWanted(recorded.entry) {
          found.append(recorded)
          if found.count == limit { return (found, recorded.index == 0 ? nil : recorded.index) }
        }
        guard let last = batch.last, batch.count == search.limit, last.index > 0 else { return (found, nil) }
        search.before = last.index
      }
      return (found, search.before)
    }

    /// The next entries with the key, of any app.
    private func candidates(in view: TrailView) throws -> [RecordedEntry] {
      switch key {
      case (.original, let value)?:
        return try view.history(original: value, before: before, limit: limit)
      case (.transaction, let value)?:
        return try view.entries(transaction: value, before: before, limit: limit)
      case (.product, let value)?:
        return try view.entries(product: value, before: before, limit: limit)
      case (.customer, let value)?:
        return try view.entries(
          customer: RecordingOptions.canonicalCustomer(value), before: before, limit: limit)
      case (.receipt, let value)?:
        guard let digest = SHA256Digest(hexadecimal: value) else {
          throw Problem.invalid("receipt", "A SHA-256 has 64 hexadecimal digits.")
        }
        return try view.entries(receipt: digest, before: before, limit: limit)
      case nil:
        let end = min(before, view.size)
        return try (end - min(end, UInt64(limit))..<end).reversed().map { try view.entry(at: $0) }
      }
    }
  }
#endif
