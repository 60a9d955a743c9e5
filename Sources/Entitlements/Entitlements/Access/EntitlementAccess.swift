// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
internal import ReceiptVerification

extension EntitlementAccess {
  /// A Boolean value that indicates whether the customer may use what the entitlement names.
  public var grantsAccess: Bool { standing == .active }

  /// The reason that decides; `nil` if nothing counts.
  package var decisive: Reason? { reasons.first.flatMap { $0.ignored == nil ? $0 : nil } }

  /// Decides from everything that gives the entitlement, or gave it.
  ///
  /// Of what gives access, that decides which does so for longest. If nothing does, that decides which began last, such
  /// as the refund of a purchase that another one had preceded.
  init(_ name: String, _ reasons: [Reason]) {
    let sorted = reasons.sorted { $0.precedes($1) }
    let first = sorted.first.flatMap { $0.ignored == nil ? $0.standing : nil }
    self.init(
      name: name, standing: first?.status, since: first?.since, until: first?.until, reasons: sorted)
  }

  /// Writes the members of its JSON object, without the reasons.
  package func writeMembers(to object: inout JSONWriter) {
    object.member("name", name)
    object.member("standing", standing?.rawValue ?? "none")
    object.member("grantsAccess", grantsAccess)
    object.member("since", since)
    object.member("until", until)
    object.member("source", decisive?.source.rawValue)
    object.member("productId", decisive?.productId)
  }

  /// Writes its JSON object.
  package func write(to object: inout JSONWriter) {
    object.beginObject()
    writeMembers(to: &object)
    object.array("reasons", reasons) { reason, object in
      object.beginObject()
      object.member("source", reason.source.rawValue)
      object.member("id", reason.id)
      object.member("productId", reason.productId)
      object.member("standing", reason.standing.status.rawValue)
      object.member("since", reason.standing.since)
      object.member("until", reason.standing.until)
      object.member("ignored", reason.ignored?.rawValue)
      object.endObject()
    }
    object.endObject()
  }
}

extension EntitlementAccess.Reason {
  fileprivate func precedes(_ other: Self) -> Bool {
    func rank(_ reason: Self) -> (Double, Double, Double) {
      (
        reason.ignored == nil ? 1 : 0, reason.standing.grantsAccess ? 1 : 0,
        reason.standing.grantsAccess
          ? reason.standing.until?.millisecondsSince1970 ?? .infinity
          : reason.standing.since?.millisecondsSince1970 ?? -.infinity
      )
    }
    let (own, others) = (rank(self), rank(other))
    guard own == others else { return own > others }
    return (id, productId ?? "") < (other.id, other.productId ?? "")
  }
}

extension NamedEntitlement {
  /// Returns `true` if what a line gives is this entitlement.
  fileprivate func contains(_ holding: LineHolding) -> Bool {
    if let entitlement = holding.entitlement { return UTF8Text.isIdentical(entitlement, name) }
    guard let product = holding.productId else { return false }
    // The name of a base plan is not that of a product.
    if !product.contains(":"), products.contains(product) { return true }
    return holding.basePlanId.map { products.contains("\(product):\($0)") } ?? false
  }
}

extension EntitlementRules {
  /// Returns the rule by which what a line gives does not count for a customer; `nil` if it does.
  fileprivate func obstacle(
    _ holding: LineHolding, from source: EntitlementSource, of customer: String?
  ) -> IgnoredPurchaseReason? {
    if let environment = holding.environment {
      if let accepted = environments[source], !accepted.contains(environment) { return .environment }
      if environment != .production, let testCustomers,
        !testCustomers.contains(where: { UTF8Text.isIdentical($0, customer) })
      {
        return .testCustomer
      }
    }
    return holding.isShared && !acceptsFamilySharing ? .familySharing : nil
  }
}

extension EntitlementLedger {
  /// Returns whether the customer of a ledger has named entitlements at an instant, until when and why.
  ///
  /// ```swift
  /// let premium = NamedEntitlement(name: "premium", products: ["com.example.premium", "premium:monthly"])
  /// let access = ledger.access(to: [premium], of: customer, at: now)
  /// if access[0].grantsAccess { … }
  /// ```
  ///
  /// - Parameters:
  ///   - entitlements: The named entitlements.
  ///   - customer: The customer whose purchases and grants the ledger has.
  ///   - rules: The rules that say which purchases count.
  ///   - instant: The instant.
  /// - Returns: One element for each named entitlement, in their order.
  public func access(
    to entitlements: [NamedEntitlement], of customer: String?,
    under rules: EntitlementRules = EntitlementRules(),
    at instant: Timestamp
  ) -> [EntitlementAccess] {
    let held = lines.flatMap { line in
      type(of: line).source.map { source in line.holdings(at: instant).map { (source, line, $0) } } ?? []
    }
    return entitlements.map { entitlement in
      EntitlementAccess(
        entitlement.name,
        held.compactMap { source, line, holding in
          guard entitlement.contains(holding) else { return nil }
          return EntitlementAccess.Reason(
            source: source, id: line.identifier, productId: holding.productId, standing: holding.standing,
            ignored: rules.obstacle(holding, from: source, of: customer))
        })
    }
  }

  /// The named entitlements that a part gives, or gave.
  package func concerned(_ entitlements: [NamedEntitlement], at instant: Timestamp) -> [NamedEntitlement] {
    guard !entitlements.isEmpty else { return [] }
    let holdings = lines.flatMap { $0.holdings(at: instant) }
    return entitlements.filter { entitlement in holdings.contains { entitlement.contains($0) } }
  }
}

extension StoreLine {
  package var identifier: String { id.identifier }
}
