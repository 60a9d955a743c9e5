// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail

  /// The latest entries of the audit trail about a customer or a purchase, with their erasable parts, latest first.
  struct TrailHistory: Sendable {
    private(set) var entries: [(recorded: RecordedEntry, part: ErasablePart?)] = []
    /// `true` if there are more entries than were read.
    private(set) var isCut = false

    private static let maximumOfCustomer = 200
    private static let (maximumOfOne, maximumOfFew, maximumOfMany) = (200, 50, 12)

    /// Reads the entries of a customer, if one is named, and of purchases, which notifications need not name by customer.
    ///
    /// - Throws: The errors of the trail.
    init(of customer: String?, purchases: [String], app: ServedApp, in view: TrailView) throws {
      var found: [UInt64: RecordedEntry] = [:]
      func add(_ entries: [RecordedEntry], limit: Int) {
        isCut = isCut || entries.count == limit
        for recorded in entries where app.isAbout(recorded.entry) { found[recorded.index] = recorded }
      }
      if let customer {
        do {
          add(
            try view.entries(
              customer: RecordingOptions.canonicalCustomer(customer), limit: Self.maximumOfCustomer),
            limit: Self.maximumOfCustomer)
        } catch let error as AuditError where error.code == .keysMissing {
          // Without the keys, nobody can tell whose entries they are.
        }
      }
      // Most customers have few purchases; of many, the latest entries of each are enough.
      let limit =
        purchases.count == 1
        ? Self.maximumOfOne : purchases.count > 4 ? Self.maximumOfMany : Self.maximumOfFew
      for purchase in purchases {
        add(try view.history(original: purchase, limit: limit), limit: limit)
      }
      entries = try found.sorted { $0.key > $1.key }.map { index, recorded in
        (recorded, try Self.part(of: recorded, in: view))
      }
    }

    private static func part(of recorded: RecordedEntry, in view: TrailView) throws -> ErasablePart? {
      do { return try view.erasablePart(at: recorded.index) } catch let error as AuditError
        where error.code == .keysMissing
      {
        return nil
      }
    }
  }
#endif
