// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Foundation
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// However a receipt is spelled, it is the same one to the trail.
@Suite struct ReceiptIdentityTests {
  private static let environments: Set<ReceiptEnvironment.Category> = [.sandbox, .production]

  /// Records spellings of one receipt: all that are accepted have one identity, and each its own digest of its bytes.
  ///
  /// - Returns: How many are accepted.
  private func acceptedCount(of spellings: [[UInt8]], _ verifier: ReceiptVerifier) throws -> Int {
    var identities: Set<SHA256Digest> = []
    var encodings: Set<SHA256Digest> = []
    var acceptedCount = 0
    for spelling in spellings {
      let verdict = verifier.verify(spelling)
      let record = try #require(
        [AuditRecord](verdict, receipt: spelling, policy: verifier.policy, at: RecordingFixture.now).first)
      encodings.insert(try #require(record.encoding))
      if let receipt = verdict.receipt {
        acceptedCount += 1
        identities.insert(try #require(record.receipt))
        #expect(record.receipt?.bytes == receipt.identity)
        #expect(record.format == receipt.kind.rawValue)
        #expect(ReceiptDigests(of: spelling).identity == record.receipt)
      } else {
        #expect(record.receipt == record.encoding)
      }
    }
    #expect(identities.count == 1)
    #expect(encodings.count == spellings.count)
    return acceptedCount
  }

  private func spellings(of kind: ReceiptKind) throws -> [[UInt8]] {
    let receipts = try TestReceipts()
    switch kind {
    case .appReceipt: return try AppReceiptSpelling.all(of: receipts.appReceipt())
    case .transactionReceipt: return try TransactionReceiptSpellings.all(of: receipts.transactionReceipt())
    default:
      // Signed again, the same content has another ECDSA signature.
      let signed = try (0..<20).map { _ in Array(try receipts.signedTransaction().utf8) }
      return try signed + signed.map(JWSSpellings.negated)
    }
  }

  @Test(
    "forty spellings of a receipt are accepted, and are one receipt",
    arguments: [ReceiptKind.signedTransaction, .appReceipt, .transactionReceipt])
  func spellingsAreOneReceipt(kind: ReceiptKind) throws {
    let verifier = try RecordingFixture.verifier { $0.environments = Self.environments }
    let spellings = try spellings(of: kind)
    #expect(spellings.count >= 40)
    #expect(try acceptedCount(of: spellings, verifier) >= 40)
  }

  @Test("a JWS signature that is not 64 bytes in base64url without padding is refused")
  func doubtfulSignatures() throws {
    let receipt = Array(try TestReceipts().signedTransaction().utf8)
    let verifier = try RecordingFixture.verifier()
    #expect(try acceptedCount(of: [receipt] + JWSSpellings.doubtful(receipt), verifier) == 1)
  }

  @Test(
    "spellings of genuine receipts are one receipt",
    .enabled(if: !GenuineEntryTests.files.isEmpty, "no genuine receipts at hand: set RECEIPTKIT_SHARED"))
  func genuineReceipts() throws {
    let policy = VerificationPolicy(bundleIds: .any, environments: Self.environments)
    let verifier = ReceiptVerifier(
      trust: .apple, policy: policy, intermediates: GenuineEntryTests.intermediates)
    var counts: [ReceiptKind: Int] = [:]
    for file in GenuineEntryTests.files {
      let bytes = [UInt8](try Data(contentsOf: GenuineEntryTests.folder.appendingPathComponent(file)))
      guard let receipt = verifier.verify(bytes).receipt else { continue }
      let spellings =
        switch receipt.kind {
        case .appReceipt: try AppReceiptSpelling.all(of: receipt.encoded)
        case .transactionReceipt: try TransactionReceiptSpellings.all(of: receipt.encoded)
        default: [try JWSSpellings.negated(receipt.encoded)] + (try JWSSpellings.doubtful(receipt.encoded))
        }
      let accepted = try acceptedCount(
        of: [receipt.encoded] + spellings.filter { $0 != receipt.encoded }, verifier)
      #expect(accepted > 1, "\(file)")
      counts[receipt.kind, default: 0] += accepted
    }
    #expect(counts.values.reduce(0, +) > 0)
    for (kind, count) in counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      print("\(count) spellings of genuine receipts of kind \(kind.rawValue) are accepted.")
    }
  }

  @Test("the identity is SHA-256 of what the signature covers")
  func definition() throws {
    let receipts = try TestReceipts()
    let verifier = try RecordingFixture.verifier { $0.environments = Self.environments }
    func identity(_ receipt: [UInt8]) throws -> [UInt8] {
      try #require(verifier.verify(receipt).receipt).identity
    }

    let jws = try receipts.signedTransaction()
    let lastDot = try #require(jws.lastIndex(of: "."))
    #expect(try identity(Array(jws.utf8)) == SHA256Digest(of: Array(jws[..<lastDot].utf8)).bytes)
    let content = SampleReceipts.appReceipt.encoded()
    #expect(try identity(receipts.appReceipt()) == SHA256Digest(of: content).bytes)
    let purchaseInfo = SampleReceipts.purchaseInfo.encoded()
    #expect(
      try identity(receipts.transactionReceipt(version: .three)) == SHA256Digest(of: [3] + purchaseInfo).bytes
    )
    #expect(
      try identity(receipts.transactionReceipt(version: .four)) == SHA256Digest(of: [4] + purchaseInfo).bytes)
  }

  @Test("a receipt inside a notification has an identity of its own")
  func nestedReceipts() throws {
    let transaction = Array(try TestReceipts().signedTransaction().utf8)
    let verifier = try RecordingFixture.verifier()
    let notification = try #require(
      verifier.verify(Array(try TestReceipts().signedNotification().utf8)).receipt)
    #expect(notification.nested.first?.identity == verifier.verify(transaction).receipt?.identity)
    #expect(notification.nested.first?.identity != notification.identity)
  }

  @Test("two receipts have two identities")
  func differentReceipts() throws {
    let receipts = try TestReceipts()
    let all = [
      Array(try receipts.signedTransaction().utf8),
      Array(try receipts.signedTransaction { $0.transactionId = "2000000009" }.utf8),
      Array(try receipts.signedNotification().utf8), try receipts.appReceipt(),
      try receipts.appReceipt { $0.inAppPurchases.removeLast() }, try receipts.transactionReceipt(),
      try receipts.transactionReceipt { $0.transactionId = "2000000009" },
    ]
    #expect(Set(all.map { ReceiptDigests(of: $0).identity }).count == all.count)
  }

  @Test(
    "in a trail another spelling is a repeat, and is found as the receipt",
    arguments: [ReceiptKind.signedTransaction, .appReceipt, .transactionReceipt])
  func inATrail(kind: ReceiptKind) async throws {
    let log = try TrailFixture().create()
    let spellings = try spellings(of: kind)
    let verifier = try RecordingFixture.verifier { $0.environments = Self.environments }
    for (number, spelling) in spellings.filter({ verifier.verify($0).receipt != nil }).enumerated() {
      let records = try await RecordingFixture.records(spelling) { $0.environments = Self.environments }
      let acknowledgements = try await log.append(records)
      #expect(acknowledgements.first?.index == 0)
      #expect(acknowledgements.allSatisfy { $0.isRepeat == (number > 0) })
      let found = try log.withView { try $0.entries(receipt: ReceiptDigests(of: spelling)).map(\.index) }
      #expect(found == [0])
    }
  }

  @Test("a file of what the signature covers is another thing than the receipt")
  func signedContentAlone() async throws {
    let log = try TrailFixture().create()
    let receipt = try TestReceipts().appReceipt()
    let digests = ReceiptDigests(of: receipt)
    let content = Array(try UnverifiedAppReceipt(parsing: receipt).signedData.content)
    let refusal: [CheckerAnswer] = [.response(CheckerResponse(.refused(message: "unknown")))]
    let forged = try await RecordingFixture.records(content)
    let genuine = try await RecordingFixture.records(receipt, answers: refusal)
    // They agree in all that is compared but in what the receipt's digest is of.
    #expect(forged[0].receipt == genuine[0].receipt)
    #expect(forged[0].original == genuine[0].original && forged[0].verdict == genuine[0].verdict)
    #expect(try await log.append(forged).map(\.index) == [0])
    #expect(try await log.append(genuine).map(\.isRepeat).first == false)
    #expect(!digests.areNamed(in: forged[0].facts))
    #expect(digests.areNamed(in: genuine[0].facts))
    #expect(ReceiptDigests(of: content).areNamed(in: forged[0].facts))
    #expect(!ReceiptDigests(of: content).areNamed(in: genuine[0].facts))
    let found = try log.withView { try $0.entries(receipt: digests).map(\.index) }
    #expect(found == [1])
    // A limit is of what is found, not of what is looked at.
    var again = forged[0]
    again.facts.id = "again"
    #expect(try await log.append([again]).map(\.isRepeat) == [false])
    let first = try log.withView { try $0.entries(receipt: digests, limit: 1).map(\.index) }
    #expect(first == [1])
  }

  @Test("a receipt whose signature is wrong is named by its bytes")
  func wrongSignature() async throws {
    let receipt = Array(try TestReceipts().signedTransaction().utf8)
    var forged = receipt
    forged[forged.count - 2] ^= 1
    let record = try #require(try await RecordingFixture.records(forged).first)
    #expect(record.receipt == SHA256Digest(of: forged) && record.encoding == record.receipt)
    #expect(record.format == nil)
    #expect(ReceiptDigests(of: forged).areNamed(in: record.facts))
    #expect(!ReceiptDigests(of: receipt).areNamed(in: record.facts))
  }
}
