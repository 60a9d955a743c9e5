// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import ReceiptCodec
  internal import ReceiptVerification

  /// Asks the ledgers of an app, into which the messages and the answers of its stores were merged.
  ///
  /// A purchase that they do not know keeps the standing that follows from the receipt.
  struct LedgerChecker: RemoteChecker {
    let name = "ledger"
    let kinds: Set<ReceiptKind>? = [
      .signedTransaction, .appReceipt, .transactionReceipt, .googlePlayPurchase,
    ]
    /// The facts about the purchases of the receipts that are asked about; `nil` if they could not be read.
    let known: KnownPurchases?
    let clock: @Sendable () -> Timestamp

    func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
      guard let known else { return .retryableFailure(message: "The ledger cannot be read now.") }
      return .response(known.ledger(about: receipt).statement(about: receipt, at: clock()))
    }
  }

  /// The parts of an app's ledgers that are about the purchases of some receipts, by their names.
  struct KnownPurchases: Sendable {
    fileprivate var parts: [String: EntitlementLedger] = [:]

    /// The facts about the purchases of one receipt; an empty ledger if nothing is known.
    func ledger(about receipt: VerifiedReceipt) -> EntitlementLedger {
      guard !parts.isEmpty else { return EntitlementLedger() }
      return EntitlementLedger.partNames(for: receipt).reduce(into: EntitlementLedger()) { ledger, name in
        if let part = parts[name] { ledger.merge(part) }
      }
    }
  }

  extension ServiceEntitlements {
    /// The maximum number of names in a statement.
    private static let namesInStatement = 100

    /// Reads what is known about the purchases of receipts.
    func knownPurchases(of receipts: [VerifiedReceipt], app: String) async throws -> KnownPurchases {
      let names = Set(receipts.flatMap { EntitlementLedger.partNames(for: $0) }).sorted()
      guard !names.isEmpty else { return KnownPurchases() }
      return try await database.read { session in
        var known = KnownPurchases()
        for start in stride(from: 0, to: names.count, by: Self.namesInStatement) {
          let some = names[start..<min(start + Self.namesInStatement, names.count)]
          let places = some.indices.map { "$\($0 - start + 2)" }.joined(separator: ", ")
          let rows = try session.run(
            "SELECT name, ledger FROM ledgers WHERE app = $1 AND name IN (\(places))",
            [.text(app)] + some.map { .text($0) })
          for row in rows { known.parts[row.text(0)] = try EntitlementLedger(stored: row.bytes(1)) }
        }
        // A refund outlives the erasure of its customer.
        guard known.parts.count < names.count,
          try session.hasRows("SELECT 1 FROM withdrawals WHERE app = $1 LIMIT 1", .text(app))
        else { return known }
        let withdrawals = try Withdrawals(app: app, in: session)
        for name in names where known.parts[name] == nil {
          known.parts[name] = try withdrawals.facts(of: name)
        }
        return known
      }
    }

    /// Reads the other purchases of the customer who holds a signed transaction, in its app and environment.
    ///
    /// The store signs who the customer is (`appTransactionId`), so that nobody is told of another one's purchases.
    func otherPurchases(ofHolderOf receipt: VerifiedReceipt, app: String) async throws -> [Entitlement] {
      guard case .jws(.transaction(let transaction)) = receipt.content,
        let holder = transaction.appTransactionId, !holder.isEmpty
      else { return [] }
      let rows = try await database.rows(
        "SELECT ledger FROM ledgers WHERE app = $1 AND holder = $2 ORDER BY name LIMIT 1000", .text(app),
        .text(holder))
      return try rows.compactMap { try EntitlementLedger(stored: $0.bytes(0)).entitlements.first }
        .filter { known in
          known.id.environment == receipt.environment?.category && known.id.bundleId == receipt.bundleId
            && known.originalTransactionId != transaction.originalTransactionId
        }
    }
  }
#endif
