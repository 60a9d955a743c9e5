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
    vectors.add(
      "valid-unknown-fields", "Fields and enum values that nobody knows yet.",
      try receipts.signedTransaction {
        $0.type = ProductType(rawValue: "Something New")
        $0.unknownFields = [JSONMember(name: "novelty", value: .array([.null, .bool(true)]))]
      }, .valid(vectors.facts(payload)))
    var wholeDates = SampleReceipts.transaction
    wholeDates.purchaseDate = Timestamp(millisecondsSince1970: 1_759_302_550_123.25)
    vectors.add(
      "valid-decimal-date", "A date with a fraction of a millisecond, as Xcode writes it.",
      try receipts.signedTransaction { $0 = wholeDates },
      .valid(vectors.facts(payload, transactions: [wholeDates.transaction])))
    var refunded = SampleReceipts.transaction
    refunded.revocationDate = SampleReceipts.signedAt.addingSeconds(-1)
    refunded.revocationReason = .other
    vectors.add(
      "valid-refunded", "Refunded: genuine all the same, and it says so.",
      try receipts.signedTransaction { $0 = refunded },
      .valid(vectors.facts(payload, transactions: [refunded.transaction])))
    return vectors.vectors
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
    vectors.add(
      "wrong-app-unstated", "A production receipt of this kind must state the app's identifier.",
      try receipts.signedAppTransaction {
        $0.receiptType = .production
        $0.appAppleId = nil
      }, policy: .es256.adding("--app-apple-id", "1234567890"), .invalid(.wrongApp))
    return vectors.vectors
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
    vectors.add(
      "valid-signed-parts", "With a signed transaction and signed renewal information.",
      try receipts.signedNotification(), .valid(facts))
    vectors.add(
      "valid-date-of-parts", "It has no date; that of its signed parts counts.",
      try receipts.signedNotification { $0.signedDate = nil }, .valid(facts))
    let appTransaction = try receipts.signedAppTransaction()
    vectors.add(
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
      }, .valid(vectors.facts(sample, transactions: [])))

    func addMismatch(
      _ name: String, _ summary: String, transaction: String? = nil, renewalInfo: String? = nil,
      policy: PolicyFlags = .es256, _ code: ReasonCode = .nestedMismatch
    ) throws {
      vectors.add(
        name, summary,
        try receipts.signedNotification {
          if let transaction { $0.data?.signedTransactionInfo = transaction }
          if let renewalInfo { $0.data?.signedRenewalInfo = renewalInfo }
        }, policy: policy, .invalid(code))
    }
    let other = try receipts.signedTransaction { $0.bundleId = "com.example.other" }
    try addMismatch(
      "wrong-bundle-nested", "The signed transaction is of an app that is not accepted.", transaction: other,
      .wrongBundle)
    try addMismatch(
      "nested-mismatch-bundle", "Notification and signed transaction are of two apps, both accepted.",
      transaction: other,
      policy: .es256.with { $0.bundleIds = ["com.example.app", "com.example.other"] })
    try addMismatch(
      "nested-mismatch-environment", "The signed transaction is of production, the notification of sandbox.",
      transaction: receipts.signedTransaction { $0.environment = .production })
    try addMismatch(
      "nested-mismatch-original", "Transaction and renewal information are of two subscriptions.",
      renewalInfo: receipts.signedRenewalInfo { $0.originalTransactionId = "2000000009" })
    try addMismatch(
      "nested-mismatch-kind", "Renewal information where a transaction belongs.",
      transaction: receipts.signedRenewalInfo())
    let genuine = try receipts.signedTransaction()
    try addMismatch(
      "signature-mismatch-nested", "The last symbol of the signed transaction's signature is another.",
      transaction: genuine.replacingLastSignatureByte(), .signatureMismatch)
    let flawed = try TestReceipts(
      jws: TestAuthority.es256().identity(.leafWithoutMarker), rsa: TestAuthority.rsa().identity)
    try addMismatch(
      "certificate-purpose-nested", "The signed transaction's signer lacks the marker of receipt signing.",
      transaction: flawed.signedTransaction(), .certificatePurpose)
    try addMismatch(
      "malformed-nested", "The signed transaction is no JWS.", transaction: "none", .malformed)
    vectors.add(
      "malformed-two-subjects", "It has both data and summary.",
      try receipts.signedNotification {
        $0.summary = NotificationSummary().with {
          $0.environment = .sandbox
        }
      },
      .invalid(.malformed))
    return vectors.vectors
  }
}

extension JWSVectors {
  /// Vectors of a receipt that is bound to the sample device.
  mutating func addDevice(_ make: (String, UUIDString) throws -> String) throws {
    let nonce = "0f8fad5b-d9cb-469f-a165-70867728950e"
    let hash = Digest.hash(Array((nonce + "00112233-4455-6677-8899-aabbccddeeff").utf8), using: .sha384)
    let jws = try make(Base64.encodeToString(hash), UUIDString(rawValue: nonce))
    add(
      "valid-device", "Bound to the device that the policy names.", jws,
      policy: .es256.adding("--device-id", "00112233-4455-6677-8899-aabbccddeeff"), .valid(facts(payload)))
    add(
      "wrong-device", "Bound to another device.", jws,
      policy: .es256.adding("--device-id", "ffeeddcc-bbaa-9988-7766-554433221100"), .invalid(.wrongDevice))
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
