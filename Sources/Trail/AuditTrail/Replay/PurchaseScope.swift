// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptVerification

/// The scope in which the identifiers of purchases are unique: one app, in one environment of one store.
///
/// The App Store numbers the transactions of production and of the sandbox separately, and Xcode begins with 0 in each
/// app. So transaction 70001 of an app's sandbox is a different purchase from transaction 70001 in production, or in
/// another app.
///
/// A value that is not stated may be any value: a receipt of Google Play and an old app receipt state no environment,
/// and an entry that another program recorded may lack all three values. Such an entry counts as one of the same scope,
/// so that no purchase is granted twice.
public struct PurchaseScope: Sendable, Hashable {
  /// The store that sold the purchase; the two other than the App Store are named by `PurchaseStore`.
  enum Store: Sendable, Hashable {
    case appStore
    case other(PurchaseStore)
  }

  let store: Store?
  let bundle: String?
  let environment: ReceiptEnvironment.Category?

  /// Creates the scope of a receipt's purchases.
  ///
  /// An environment that its signature does not cover is ignored, unless a checker found the purchase in it.
  public init(of receipt: VerifiedReceipt) {
    store = Store(receipt.kind)
    bundle = receipt.bundleId?.isEmpty == false ? receipt.bundleId : nil
    environment = receipt.isEnvironmentProven ? receipt.environment?.category : nil
  }

  /// Creates the scope of an app, an environment, or both, in any store.
  ///
  /// - Parameters:
  ///   - bundle: The bundle identifier or package name; `nil` for all apps.
  ///   - environment: The environment; `nil` for all environments.
  public init(bundle: String?, environment: ReceiptEnvironment.Category?) {
    store = nil
    self.bundle = bundle
    self.environment = environment
  }

  package init(of entry: AuditEntry) {
    let facts = entry.facts
    store = facts.format.flatMap(ReceiptKind.init(rawValue:)).map(Store.init)
    bundle = facts.bundle
    environment = facts.environment.flatMap { ReceiptEnvironment(rawValue: $0).category }
  }

  /// Returns `true` if an entry may be in this scope, because no value that both state differs.
  package func mayContain(_ entry: AuditEntry) -> Bool {
    let other = PurchaseScope(of: entry)
    if let bundle, let stated = other.bundle, !UTF8Text.isIdentical(bundle, stated) { return false }
    return Self.mayBeEqual(store, other.store) && Self.mayBeEqual(environment, other.environment)
  }

  /// Returns the values that this scope states and an entry does not, as a list; `nil` if the entry states all of them.
  func unstated(in entry: AuditEntry) -> String? {
    let other = PurchaseScope(of: entry)
    var missing: [String] = []
    if store != nil, other.store == nil { missing.append("store") }
    if bundle != nil, other.bundle == nil { missing.append("app") }
    if environment != nil, other.environment == nil { missing.append("environment") }
    guard missing.count > 1, let last = missing.popLast() else { return missing.first }
    return missing.joined(separator: ", ") + " or " + last
  }

  private static func mayBeEqual<Value: Equatable>(_ one: Value?, _ other: Value?) -> Bool {
    one == nil || other == nil || one == other
  }
}

extension PurchaseScope.Store {
  init(_ kind: ReceiptKind) {
    switch kind {
    case .signedTransaction, .signedRenewalInfo, .signedAppTransaction, .signedNotification,
      .signedRealtimeRequest, .appReceipt, .transactionReceipt:
      self = .appStore
    case .googlePlayPurchase, .googlePlayLicense: self = .other(.googlePlay)
    case .huaweiPurchase: self = .other(.huawei)
    }
  }
}
