// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension EntitlementLedger {
  /// A ledger of one original transaction, one purchase in Google Play, or one customer whose guardian withdrew
  /// consent.
  ///
  /// A store keeps each part in a row.
  package struct Part: Sendable, Hashable {
    /// The name of the part: the same for all parts about the same subject, and different for others, even of the other
    /// store.
    package let name: String
    /// The original transaction, the purchase token, or the customer's app transaction.
    package let identifier: String
    /// The ledger with this part only.
    package let ledger: EntitlementLedger
  }

  /// The ledger split into its parts.
  package var parts: [Part] {
    sortedIDs.map { id in
      Part(
        name: "\(id.environment.rawValue) \(id.bundleId) \(id.originalTransactionId)",
        identifier: id.originalTransactionId, ledger: EntitlementLedger { $0.lines[id] = lines[id] })
    }
      + consents.keys.sorted().map { customer in
        Part(
          name: RescindedConsent.name(
            customer.environment, customer.bundleId, appTransactionId: customer.appTransactionId),
          identifier: customer.appTransactionId,
          ledger: EntitlementLedger { $0.consents[customer] = consents[customer] })
      }
      + sortedPlayIDs.map { id in
        Part(
          name: "\(id.packageName) \(id.purchaseToken)", identifier: id.purchaseToken,
          ledger: EntitlementLedger { $0.playLines[id] = playLines[id] })
      }
  }

  private init(_ fill: (inout EntitlementLedger) -> Void) { fill(&self) }
}
