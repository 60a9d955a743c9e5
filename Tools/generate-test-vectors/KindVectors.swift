// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// The vectors that exist only for single JWS kinds, in addition to ``JWSVectors``.
enum KindVectors {
  static func transactions() throws -> [Vector] {
    let payload = JWSPayload.transaction(SampleReceipts.transaction)
    var vectors = try JWSVectors(payload)
    let receipts = try TestReceipts()
    try vectors.addDevice { verification, nonce in
      try receipts.signedTransaction {
        $0.deviceVerification = verification
        $0.deviceVerificationNonce = nonce
      }
    }
    vectors.list.accept(
      "valid-unknown-fields", "Fields and enum values that nobody knows yet.",
      try receipts.signedTransaction {
        $0.type = ProductType(rawValue: "Something New")
        $0.unknownFields = [JSONMember(name: "novelty", value: .array([.null, .bool(true)]))]
      }.utf8, vectors.facts(payload))
    for (name, summary, transaction) in [
      (
        "valid-decimal-date", "A date with a fraction of a millisecond, as Xcode writes it.",
        SampleReceipts.transaction.with {
          $0.purchaseDate = Timestamp(millisecondsSince1970: 1_759_302_550_123.25)
        }
      ),
      (
        "valid-refunded", "Refunded: genuine all the same, and it says so.",
        SampleReceipts.transaction.with {
          $0.revocationDate = SampleReceipts.signedAt.addingSeconds(-1)
          $0.revocationReason = .other
        }
      ),
    ] {
      vectors.list.accept(
        name, summary, try receipts.signedTransaction { $0 = transaction }.utf8,
        vectors.facts(payload, transactions: [transaction.transaction]))
    }
    return vectors.list.vectors
  }

  static func appTransactions() throws -> [Vector] {
    var vectors = try JWSVectors(.appTransaction(SampleReceipts.appTransaction))
    let receipts = try TestReceipts()
    try vectors.addDevice { verification, nonce in
      try receipts.signedAppTransaction {
        $0.deviceVerification = verification
        $0.deviceVerificationNonce = nonce
      }
    }
    vectors.list.refuse(
      "wrong-app-unstated", "A production receipt of this kind must state the app's identifier.",
      try receipts.signedAppTransaction {
        $0.receiptType = .production
        $0.appAppleId = nil
      }.utf8, policy: { $0.others += ["--app-apple-id", "1234567890"] })
    return vectors.list.vectors
  }

  static func notifications() throws -> [Vector] {
    var test = SampleReceipts.notification
    test.notificationType = .test
    test.subtype = nil
    test.data?.status = nil
    var vectors = try JWSVectors(.notification(test))
    let receipts = try TestReceipts()
    let sample = JWSPayload.notification(SampleReceipts.notification)
    let facts = vectors.facts(sample, transactions: [SampleReceipts.transaction.transaction])
    vectors.list.accept(
      "valid-signed-parts", "With a signed transaction and signed renewal information.",
      try receipts.signedNotification().utf8, facts)
    vectors.list.accept(
      "valid-date-of-parts", "It has no date; that of its signed parts counts.",
      try receipts.signedNotification { $0.signedDate = nil }.utf8, facts)
    let appTransaction = try receipts.signedAppTransaction()
    vectors.list.accept(
      "valid-app-data", "With a signed app transaction.",
      try receipts.signedNotification {
        $0.notificationType = .rescindConsent
        $0.subtype = nil
        $0.data = nil
        $0.appData = NotificationAppData().with {
          $0.appAppleId = SampleReceipts.appAppleId
          $0.bundleId = SampleReceipts.bundleId
          $0.environment = .sandbox
          $0.signedAppTransactionInfo = appTransaction
        }
      }.utf8, vectors.facts(sample, transactions: []))

    let other = try receipts.signedTransaction { $0.bundleId = "com.example.other" }
    func refuse(
      _ name: String, _ summary: String, transaction: String? = nil, renewalInfo: String? = nil,
      policy: @escaping VectorList.PolicyChange = { _ in }
    ) throws {
      vectors.list.refuse(
        name, summary,
        try receipts.signedNotification {
          if let transaction { $0.data?.signedTransactionInfo = transaction }
          if let renewalInfo { $0.data?.signedRenewalInfo = renewalInfo }
        }.utf8, policy: policy)
    }
    try refuse(
      "wrong-bundle-nested", "The signed transaction is of an app that is not accepted.", transaction: other)
    try refuse(
      "nested-mismatch-bundle", "Notification and signed transaction are of two apps, both accepted.",
      transaction: other, policy: { $0.bundleIds = ["com.example.app", "com.example.other"] })
    try refuse(
      "nested-mismatch-environment", "The signed transaction is of production, the notification of sandbox.",
      transaction: receipts.signedTransaction { $0.environment = .production })
    try refuse(
      "nested-mismatch-original", "Transaction and renewal information are of two subscriptions.",
      renewalInfo: receipts.signedRenewalInfo { $0.originalTransactionId = "2000000009" })
    try refuse(
      "nested-mismatch-kind", "Renewal information where a transaction belongs.",
      transaction: receipts.signedRenewalInfo())
    try refuse(
      "signature-mismatch-nested", "The last symbol of the signed transaction's signature is another.",
      transaction: receipts.signedTransaction().replacingLastSignatureByte())
    let flawed = try TestReceipts(
      jws: TestAuthority.es256().identity(.leafWithoutMarker), rsa: TestAuthority.rsa().identity)
    try refuse(
      "certificate-purpose-nested", "The signed transaction's signer lacks the marker of receipt signing.",
      transaction: flawed.signedTransaction())
    try refuse("malformed-nested", "The signed transaction is no JWS.", transaction: "none")
    vectors.list.refuse(
      "malformed-two-subjects", "It has both data and summary.",
      try receipts.signedNotification {
        $0.summary = NotificationSummary().with { $0.environment = .sandbox }
      }.utf8)
    return vectors.list.vectors
  }
}

extension JWSVectors {
  /// Vectors of a receipt that is bound to the sample device.
  fileprivate mutating func addDevice(_ make: (String, UUIDString) throws -> String) throws {
    let nonce = "0f8fad5b-d9cb-469f-a165-70867728950e"
    let hash = Digest.hash(Array((nonce + VectorList.device).utf8), using: .sha384)
    let jws = try make(Base64.encodeToString(hash), UUIDString(rawValue: nonce)).utf8
    list.accept("valid-device", jws, facts(payload))
    list.refuse("wrong-device", jws)
  }
}

extension String {
  /// A JWS whose signature differs in its last byte.
  fileprivate func replacingLastSignatureByte() throws -> String {
    let parts = split(separator: ".").map(String.init)
    var signature = try Base64URL.decode(Array(parts[2].utf8))
    signature[63] ^= 1
    return parts[0] + "." + parts[1] + "." + Base64URL.encodeToString(signature)
  }
}
