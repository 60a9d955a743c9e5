// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A ledger that merges verified facts about purchases into the current entitlement of each.
///
/// For each original transaction it merges notifications and the history from the App Store Server API. For each
/// purchase in Google Play (``playEntitlements``) it merges Google Play's answers.
///
/// The result depends only on the *set* of applied facts: any order, any repetition, and any split into ledgers that
/// are merged later give the same ledger. So deliveries need no queue and no lock. Apply each as it arrives, and merge
/// if two processes did so at once.
///
/// For each original transaction it keeps the latest transaction, the latest renewal information and a few small facts,
/// regardless of the number of renewals. It keeps every original transaction. A service with many customers stores one
/// ledger for each of them, as JSON in its own storage: ``encoded()``.
///
/// The rules are in <doc:Notifications>.
public struct EntitlementLedger: Sendable, Hashable {
  var purchases = LineSet<PurchaseLine>()
  var consents = LineSet<ConsentLine>()
  var playPurchases = LineSet<PlayPurchaseLine>()
  var grants = LineSet<GrantLine>()
  var reviews = LineSet<RefundReviewLine>()

  /// The kinds of lines, in the order of ``parts``.
  ///
  /// Code that reads only version 1 would lose purchases of Google Play. Version 2 contains one voided order of each,
  /// and one order for all line items.
  static let kinds: [any AnyLineKind] = [
    LineKind(\.purchases, \.requiredPurchases, .purchases, version: 1),
    LineKind(\.consents, \.rescindedConsents, .rescindedConsents, version: 1),
    LineKind(\.playPurchases, \.playPurchases, .playPurchases, version: 3),
    LineKind(\.grants, \.grants, .grants, version: 4),
    LineKind(\.reviews, \.refundReviews, .refundReviews, version: 4),
  ]

  /// The members of the JSON of entitlements that contain the store's identifier.
  package static var identifierMembers: [String] { kinds.map { $0.lineType.identifierMember } }

  package static var customerMembers: [String] { kinds.flatMap { $0.lineType.customerMembers } }

  /// Creates an empty ledger.
  public init() {}

  /// Merges another ledger into this one.
  public mutating func merge(_ other: EntitlementLedger) {
    for kind in Self.kinds { kind.merge(other, into: &self) }
  }

  package var count: Int { parts.count }

  /// The first line of which enough is known, and the only one of a ``Part``.
  package var line: (any StoreLine)? { Self.kinds.lazy.compactMap { $0.lines(in: self).first }.first }

  /// The lines of all kinds of which enough is known.
  var lines: [any StoreLine] { Self.kinds.flatMap { $0.lines(in: self) } }

  package var parts: [Part] { Self.kinds.flatMap { $0.parts(of: self) } }

  /// A ledger that keeps refunded and revoked purchases from being granted again after their other data is erased.
  ///
  /// It contains the refunds, voids and revocations, and the transactions that they concern, without the customer.
  /// Merged into a ledger that learns of such a purchase again, it has the same effect as before. `nil` if no purchase
  /// was refunded, voided or revoked.
  package var withdrawals: EntitlementLedger? {
    var kept = EntitlementLedger()
    for kind in Self.kinds { kind.keepWithdrawals(of: self, in: &kept) }
    return kept == EntitlementLedger() ? nil : kept
  }

  // MARK: JSON

  /// Decodes a ledger that ``encoded()`` wrote.
  ///
  /// Keep the JSON in trusted storage: it carries no signatures.
  ///
  /// - Throws: `MalformedReceipt` with the JSON path of a missing or wrong member; with `unsupported` for a version
  ///   that this code does not know.
  public init(decoding json: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    let document = try LedgerDocument(json: json, part: "entitlement ledger", limits: limits)
    let latest = Self.kinds.map(\.version).max() ?? 1
    guard 1...latest ~= document.version else {
      throw MalformedReceipt(
        .unsupported, at: .jsonPath("$.version"),
        "The entitlement ledger is of version \(document.version); this code reads 1 to \(latest).")
    }
    for kind in Self.kinds { try kind.decode(document, into: &self) }
  }

  /// Returns the ledger as compact JSON; equal ledgers give equal bytes.
  public func encoded() -> [UInt8] {
    var document = LedgerDocument(version: 1)
    for kind in Self.kinds { kind.encode(self, into: &document) }
    return document.encodedJSON()
  }
}

extension LedgerDocument {
  /// The member `purchases`, which is written even if it is empty.
  var requiredPurchases: [LedgerRecord]? {
    get { purchases }
    set { purchases = newValue ?? [] }
  }
}
