// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
package import ReceiptVerification

extension RescindedConsent {
  package var environment: ReceiptEnvironment.Category { id.environment }
  package var bundleId: String { id.bundleId }
  /// The identifier of the customer's app transaction.
  public var appTransactionId: String { id.identifier }
}

extension RescindedConsent.Customer {
  package var name: String { "\(environment.rawValue) \(bundleId) customer \(identifier)" }

  /// Creates the customer whose guardian withdrew consent; `nil` for other notifications.
  init?(_ notification: AppStoreNotification) {
    guard notification.type == .rescindConsent else { return nil }
    self.init(
      environment: notification.environment?.category, bundleId: notification.bundleId,
      identifier: notification.appTransaction?.appTransactionId)
  }
}

extension RescindedConsent: StoreLine {
  package static let state = "consent-rescinded"
  package static var source: EntitlementSource? { nil }
  package static var reportType: String { "rescinded-consent" }
  package static var identifierMember: String { "appTransactionId" }

  package var statedCustomer: String? { nil }
  package var dueInstants: [Timestamp] { [] }
  package func condition(at instant: Timestamp) -> String { Self.state }
  package var timeline: StandingTimeline? { nil }
  package func holdings(at instant: Timestamp) -> [LineHolding] { [] }

  package func report(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("bundleId", bundleId)
    object.member("environment", environment.plainName)
    object.member("state", Self.state)
    object.member("signedDate", signedDate)
  }

  package func snapshot(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("state", Self.state)
  }
}

struct ConsentLine: LineFacts {
  var fact: ConsentFact?

  static func decode(_ record: ConsentRecord) -> (RescindedConsent.Customer, Self)? {
    RescindedConsent.Customer(
      environment: ReceiptEnvironment.Category(rawValue: record.environment), bundleId: record.bundleId,
      identifier: record.appTransactionId
    ).map { ($0, Self(fact: record.fact)) }
  }

  func record(_ id: RescindedConsent.Customer) -> ConsentRecord {
    ConsentRecord(
      environment: id.environment.rawValue, bundleId: id.bundleId, appTransactionId: id.identifier,
      fact: fact ?? ConsentFact())
  }

  mutating func join(_ other: Self) { fact = .higher(fact, other.fact) }

  func line(_ id: RescindedConsent.Customer) -> RescindedConsent? {
    RescindedConsent(id: id, signedDate: fact?.signedDate)
  }

  var withdrawals: Self? { nil }
}
