// SPDX-License-Identifier: Apache-2.0

#if Server
  import Entitlements
  import Foundation
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import ReceiptVerification

  /// A database of its own, an app, and a store that signs what the test wants.
  struct ServiceFixture {
    static let customer = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"

    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    let clock = FixedClock(day(0))
    let database: any ServiceDatabase
    /// All that the database has in files.
    let files: @Sendable () throws -> [Data]
    let receiver: NotificationReceiver
    var app: AppConfiguration
    private let receipts: TestReceipts
    private let verifier: ReceiptVerifier

    init(on kind: DatabaseKind = .sqlite, webhooks: [WebhookEndpoint] = []) throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      (database, files) = try kind.make(in: folder)
      receipts = try TestReceipts()
      verifier = ReceiptVerifier(
        trust: try TestAuthority.es256().trustAnchors,
        policy: VerificationPolicy(
          bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox]),
        clock: FixedClock(Self.day(2000)).reading)
      receiver = NotificationReceiver(verifier: verifier)
      app = try AppConfiguration(name: "shop", policies: ["default": verifier])
      app.appStoreNotifications = receiver
      app.webhooks = webhooks
    }

    func entitlements(_ clock: FixedClock? = nil) -> ServiceEntitlements {
      ServiceEntitlements(database: database, apps: [app], clock: (clock ?? self.clock).reading)
    }

    func remove() async {
      await database.close()
      try? FileManager.default.removeItem(at: folder)
    }

    static func day(_ days: Double) -> Timestamp { SampleReceipts.purchasedAt.addingSeconds(days * 86_400) }

    /// A period of thirty days; periods count from one.
    static func period(
      _ number: Int, line: Int = 1, customer: String? = customer,
      _ change: (inout JWSTransaction) -> Void = { _ in }
    ) -> JWSTransaction {
      var transaction = SampleReceipts.transaction
      transaction.originalTransactionId = "\(2_000_000_000 + line)"
      transaction.transactionId = "\(2_000_000_000 + line * 1000 + number)"
      transaction.appAccountToken = customer.map { UUIDString(rawValue: $0) }
      transaction.purchaseDate = day(30 * Double(number - 1))
      transaction.expiresDate = day(30 * Double(number))
      transaction.signedDate = nil
      change(&transaction)
      return transaction
    }

    /// The body of a notification that is signed on a day.
    func body(
      _ type: NotificationType, _ subtype: NotificationSubtype? = nil, day: Double,
      _ transaction: JWSTransaction? = nil, _ change: (inout JWSRenewalInfo) -> Void = { _ in }
    ) throws -> [UInt8] {
      let signedDate = Self.day(day)
      var renewalInfo = SampleReceipts.renewalInfo
      renewalInfo.originalTransactionId = transaction?.originalTransactionId
      renewalInfo.renewalDate = nil
      renewalInfo.signedDate = signedDate
      change(&renewalInfo)
      let signedTransaction = try transaction.map { transaction in
        try receipts.signedTransaction {
          $0 = transaction
          $0.signedDate = transaction.signedDate ?? signedDate
        }
      }
      let signedRenewalInfo = try receipts.signedRenewalInfo { $0 = renewalInfo }
      let jws = try receipts.signedNotification {
        $0.notificationType = type
        $0.subtype = subtype
        $0.notificationUUID = UUIDString(rawValue: UUID().uuidString.lowercased())
        $0.signedDate = signedDate
        $0.data?.status = nil
        $0.data?.signedTransactionInfo = signedTransaction
        $0.data?.signedRenewalInfo = transaction == nil ? nil : signedRenewalInfo
      }
      return Array(#"{"signedPayload":"\#(jws)"}"#.utf8)
    }

    func notification(
      _ type: NotificationType, _ subtype: NotificationSubtype? = nil, day: Double,
      _ transaction: JWSTransaction? = nil, _ change: (inout JWSRenewalInfo) -> Void = { _ in }
    ) throws -> AppStoreNotification {
      try receiver.receive(body(type, subtype, day: day, transaction, change))
    }

    /// A verified signed transaction.
    func receipt(_ transaction: JWSTransaction, day: Double) throws -> VerifiedReceipt {
      let jws = try receipts.signedTransaction {
        $0 = transaction
        $0.signedDate = Self.day(day)
      }
      guard case .valid(let receipt) = verifier.verify(Array(jws.utf8)) else { throw Unverified() }
      return receipt
    }

    struct Unverified: Error {}
  }

  /// Runs a test with a fixture, and removes its files.
  func withService(
    on kind: DatabaseKind, webhooks: [WebhookEndpoint] = [],
    _ body: (inout ServiceFixture) async throws -> Void
  ) async throws {
    var fixture = try ServiceFixture(on: kind, webhooks: webhooks)
    do {
      try await body(&fixture)
    } catch {
      await fixture.remove()
      throw error
    }
    await fixture.remove()
  }

  extension ServiceEntitlements {
    /// The types of all changes so far.
    func told(_ app: String = "shop") async throws -> [String] {
      try await changes(app: app, after: 0, limit: 10_000).map(\.type)
    }
  }
#endif
