// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension EntitlementLedger {
  /// The format versions that this code reads.
  ///
  /// Versions 2 and 3 contain purchases of Google Play, which code that reads only version 1 would lose. Version 3
  /// contains every voided order and the order of each line item; version 2 contains only one of each.
  private static let formatVersions: ClosedRange<Int64> = 1...3

  /// Decodes a ledger that ``encoded()`` wrote.
  ///
  /// Keep the JSON in trusted storage: it carries no signatures.
  ///
  /// - Throws: `MalformedReceipt` with the JSON path of a missing or wrong member; with `unsupported` for a version
  ///   that this code does not know.
  public init(decoding json: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    let document = try LedgerDocument(json: json, part: "entitlement ledger", limits: limits)
    guard Self.formatVersions.contains(document.version) else {
      throw MalformedReceipt(
        .unsupported, at: .jsonPath("$.version"),
        "The entitlement ledger is of version \(document.version); this code reads "
          + "\(Self.formatVersions.lowerBound) to \(Self.formatVersions.upperBound).")
    }
    for (index, record) in document.purchases.enumerated() {
      guard let environment = ReceiptEnvironment.Category(rawValue: record.environment),
        Entitlement.ID.isIdentifier(record.bundleId),
        Entitlement.ID.isIdentifier(record.originalTransactionId)
      else { throw Self.malformed("$.purchases[\(index)]") }
      join(
        record.facts,
        to: Entitlement.ID(
          environment: environment, bundleId: record.bundleId,
          originalTransactionId: record.originalTransactionId))
    }
    for (index, record) in (document.rescindedConsents ?? []).enumerated() {
      guard
        let customer = RescindedConsent.Customer(
          environment: ReceiptEnvironment.Category(rawValue: record.environment),
          bundleId: record.bundleId, appTransactionId: record.appTransactionId)
      else { throw Self.malformed("$.rescindedConsents[\(index)]") }
      join(record.fact, to: customer)
    }
    for (index, record) in (document.playPurchases ?? []).enumerated() {
      guard
        let id = PlayEntitlement.ID(packageName: record.packageName, purchaseToken: record.purchaseToken)
      else {
        throw MalformedReceipt(
          .invalidValue, at: .jsonPath("$.playPurchases[\(index)]"),
          "The package name or the purchase token is not of visible ASCII characters, or too long.")
      }
      join(record.facts, to: id)
    }
  }

  private static func malformed(_ place: String) -> MalformedReceipt {
    MalformedReceipt(
      .invalidValue, at: .jsonPath(place),
      "The environment is not one of "
        + ReceiptEnvironment.Category.allCases.map(\.rawValue).joined(separator: ", ")
        + ", or an identifier is not of 1 to 256 visible ASCII characters.")
  }

  /// Returns the ledger as compact JSON; equal ledgers give equal bytes.
  public func encoded() -> [UInt8] {
    let document = LedgerDocument(
      version: playLines.isEmpty ? Self.formatVersions.lowerBound : Self.formatVersions.upperBound,
      purchases: sortedIDs.compactMap { id in
        lines[id].map { line in
          LedgerRecord(
            environment: id.environment.rawValue, bundleId: id.bundleId,
            originalTransactionId: id.originalTransactionId, facts: line)
        }
      },
      rescindedConsents: consents.isEmpty
        ? nil
        : consents.sorted { $0.key < $1.key }.map { customer, fact in
          ConsentRecord(
            environment: customer.environment.rawValue, bundleId: customer.bundleId,
            appTransactionId: customer.appTransactionId, fact: fact)
        },
      playPurchases: playLines.isEmpty
        ? nil
        : sortedPlayIDs.compactMap { id in
          playLines[id].map {
            PlayLedgerRecord(packageName: id.packageName, purchaseToken: id.purchaseToken, facts: $0)
          }
        })
    return document.encodedJSON()
  }
}
