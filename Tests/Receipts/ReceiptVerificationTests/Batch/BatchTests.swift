// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import Testing

@testable import ReceiptVerification

/// Receipts verified together get the verdicts that they get alone.
@Suite struct BatchTests {
  /// A verifier that has met the signers of all kinds, and has tables of their keys.
  static func warmVerifier(at now: Timestamp = Fixture.now) throws -> ReceiptVerifier {
    let verifier = try Fixture.verifier(at: now) { $0.timeRule = .now }
    for kind in Fixture.appStoreKinds { _ = verifier.verify(try Fixture.sample(kind)) }
    for signer in verifier.knownSigners.all { signer.buildTable() }
    return verifier
  }

  static func transactions(_ count: Int) throws -> [[UInt8]] {
    let signer = try JWSSigner(identity: Fixture.es256.identity)
    return try (0..<count).map { number in
      var transaction = SampleReceipts.transaction
      transaction.transactionId = String(number)
      return Array(try signer.sign(.transaction(transaction)).utf8)
    }
  }

  /// The same receipt with a bit of its payload's encoding, of its signature or of its header changed.
  static func damaged(_ receipt: [UInt8], _ way: Int) -> [UInt8] {
    var damaged = receipt
    let dots = receipt.indices.filter { receipt[$0] == UInt8(ascii: ".") }
    let index = [dots[0] + 30, dots[1] + 40, 40][way % 3]
    damaged[index] = damaged[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    return damaged
  }

  @Test("a known signer has a table, and its receipts are valid by it")
  func table() throws {
    let verifier = try Self.warmVerifier()
    let signers = verifier.knownSigners.all.filter { $0.prefixDigest != nil }
    #expect(signers.count == 1)
    #expect(
      signers.allSatisfy { $0.fixedKeyVerifier != nil } == VerificationCapabilities.current.hasFixedKeyTables)
    for kind in Fixture.appStoreKinds { expectValid(verifier.verify(try Fixture.sample(kind))) }
  }

  @Test("a bad signature at any position affects no other receipt", arguments: [1, 2, 63, 64, 65])
  func everyPosition(size: Int) throws {
    let verifier = try Self.warmVerifier()
    let good = try Self.transactions(size)
    for position in 0..<size {
      var batch = good
      batch[position] = Self.damaged(good[position], position)
      let verdicts = verifier.verifyTogether(batch[...])
      #expect(verdicts.count == size)
      for (index, verdict) in verdicts.enumerated() {
        if index == position {
          #expect(verdict == verifier.verify(batch[index]))
          #expect(verdict.receipt == nil)
        } else {
          #expect(verdict.receipt?.transactions.first?.transactionId == String(index))
        }
      }
    }
  }

  @Test("any mix of kinds, good and bad, gets the verdicts of a fresh verifier, in order")
  func mixes() async throws {
    var batch: [[UInt8]] = []
    for number in 0..<20 {
      for kind in Fixture.appStoreKinds {
        let sample = try Fixture.sample(kind)
        batch.append(number.isMultiple(of: 3) ? Array(sample.dropLast(number + 1)) : sample)
      }
      batch.append([])
      batch.append(try Self.transactions(1)[0])
    }
    let verifier = try Self.warmVerifier()
    let together = try await verifier.verify(batch)
    let fresh = try Fixture.verifier { $0.timeRule = .now }
    #expect(together == batch.map { fresh.verify($0) })
    #expect(verifier.verifyTogether(batch[...]) == together)
    #expect(try await verifier.verify([[UInt8]]()).isEmpty)
  }

  @Test("a signer whose certificates have expired is refused although it is known and has a table")
  func expired() throws {
    let leaf = try #require(try Fixture.es256.identity.leaf)
    let verifier = try Self.warmVerifier(
      at: Timestamp(secondsSince1970: leaf.notAfter).addingSeconds(1))
    // Known from a receipt that is judged at its signing.
    let atSigning = try Fixture.verifier()
    expectValid(atSigning.verify(try Fixture.sample(.signedTransaction)))
    for verdict in verifier.verifyTogether(try Self.transactions(3)[...]) {
      expectInvalid(verdict, .chainExpired, at: "certificate 0")
    }
  }

  @Test("in a batch, two signers with tables are not confused")
  func twoSigners() throws {
    let es256 = try Fixture.es256
    let other = try es256.authority.issueLeaf(key: try PrivateKey.generateP256())
    let verifier = try Fixture.verifier()
    let first = try Self.transactions(6)
    let second = try (0..<6).map { _ in try Fixture.Container.jws.signed(by: other) }
    _ = verifier.verifyTogether([first[0], second[0]][...])
    for signer in verifier.knownSigners.all { signer.buildTable() }
    #expect(verifier.knownSigners.all.count == 2)
    var batch: [[UInt8]] = []
    var leaves: [String?] = []
    for index in 0..<6 {
      batch += [first[index], second[index]]
      leaves += [es256.identity.leaf?.sha256FingerprintHex, other.leaf?.sha256FingerprintHex]
    }
    // One signer's signature under the other's header.
    let firstParts = first[0].split(separator: UInt8(ascii: "."))
    let secondParts = second[0].split(separator: UInt8(ascii: "."))
    batch.append(
      Array([secondParts[0], firstParts[1], firstParts[2]].joined(separator: [UInt8(ascii: ".")])))
    let verdicts = verifier.verifyTogether(batch[...])
    #expect(verdicts.dropLast().map { $0.receipt?.signer.sha256 } == leaves)
    expectInvalid(try #require(verdicts.last), .signatureMismatch, at: "JWS signature")
  }

  @Test(
    "the signed parts of notifications are verified with all others, and a bad one refuses its own notification"
  )
  func notificationParts() throws {
    let verifier = try Self.warmVerifier()
    let receipts = try Fixture.receipts
    let good = Array(try receipts.signedNotification().utf8)
    let damaged = String(
      decoding: Self.damaged(Array(try receipts.signedTransaction().utf8), 1), as: UTF8.self)
    let bad = Array(try receipts.signedNotification { $0.data?.signedTransactionInfo = damaged }.utf8)
    let verdicts = verifier.verifyTogether([good, bad, good, try Fixture.sample(.appReceipt), bad][...])
    for index in [0, 2] {
      expectValid(verdicts[index])
      #expect(verdicts[index].receipt?.nested.map(\.kind) == [.signedTransaction, .signedRenewalInfo])
    }
    for index in [1, 4] {
      expectInvalid(verdicts[index], .signatureMismatch, at: "$.data.signedTransactionInfo, JWS signature")
    }
    expectValid(verdicts[3])
    #expect(
      verdicts == (try [good, bad, good, Fixture.sample(.appReceipt), bad]).map { verifier.verify($0) })
  }

  @Test("an asynchronous sequence of receipts gets its verdicts in order", arguments: [1, 3, 64])
  func sequence(together: Int) async throws {
    let verifier = try Self.warmVerifier()
    var batch = try Self.transactions(10)
    batch[4] = Self.damaged(batch[4], 1)
    let source = AsyncStream { continuation in
      for receipt in batch { continuation.yield(receipt) }
      continuation.finish()
    }
    var verdicts: [Verdict] = []
    for await verdict in verifier.verdicts(on: source, together: together) { verdicts.append(verdict) }
    #expect(verdicts == batch.map { verifier.verify($0) })

    struct Interruption: Error {}
    let failing = AsyncThrowingStream<[UInt8], any Error> { continuation in
      for receipt in batch[..<5] { continuation.yield(receipt) }
      continuation.finish(throwing: Interruption())
    }
    var count = 0
    await #expect(throws: Interruption.self) {
      for try await _ in verifier.verdicts(on: failing, together: together) { count += 1 }
    }
    #expect(count == 5)
  }

  @Test("a receipt is verified from any collection of bytes")
  func collections() throws {
    let verifier = try Self.warmVerifier()
    let bytes = try Fixture.sample(.signedTransaction)
    let verdict = verifier.verify(bytes)
    expectValid(verdict)
    #expect(verifier.verify(Data(bytes)) == verdict)
    #expect(verifier.verify(([0] + bytes)[1...]) == verdict)
    #expect(verifier.verify(bytes.lazy.map { $0 }) == verdict)
    #expect(verifier.verify(String(decoding: bytes, as: UTF8.self)) == verdict)
    let span = bytes.span
    let borrowed = verifier.verify(span)
    #expect(borrowed == verdict)
  }

  @Test(
    "if the signature is wrong, the kind is determined by the payload's members, without decoding all of it")
  func claimedKind() throws {
    let verifier = try Self.warmVerifier()
    let payload = Array(#"{"transactionId":"1","purchaseDate":"not a number"}"#.utf8)
    let forged = try ForgedJWS.replacingPayload(of: try Fixture.sample(.signedTransaction), with: payload)
    let verdict = verifier.verify(forged)
    expectInvalid(verdict, .signatureMismatch, at: "JWS signature")
    #expect(verdict.kind == .signedTransaction)
  }

  @Test("a cancelled task stops before all are verified")
  func cancellation() async throws {
    let verifier = try Self.warmVerifier()
    let batch = [[UInt8]](repeating: try Fixture.sample(.signedTransaction), count: 100_000)
    let task = Task { try await verifier.verify(batch) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("signers are counted, and a table is built once they have signed enough")
  func tableAfterEnoughSignatures() async throws {
    let verifier = try Fixture.verifier()
    let receipt = try Fixture.sample(.signedTransaction)
    for _ in 0..<Signer.signaturesThatRepayTable { _ = verifier.verify(receipt) }
    let signer = try #require(verifier.knownSigners.all.first)
    for _ in 0..<500 where signer.fixedKeyVerifier == nil { try await Task.sleep(for: .milliseconds(10)) }
    #expect((signer.fixedKeyVerifier != nil) == VerificationCapabilities.current.hasFixedKeyTables)
    expectValid(verifier.verify(receipt))
  }
}
