// SPDX-License-Identifier: Apache-2.0

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
    for kind in ReceiptKind.allCases { _ = verifier.verify(try Fixture.sample(kind)) }
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
    let signers = verifier.knownSigners.all.filter { $0.messageBeginning != nil }
    #expect(signers.count == 1)
    #expect(
      signers.allSatisfy { $0.fixedKeyVerifier != nil } == VerificationCapabilities.current.hasFixedKeyTables)
    for kind in ReceiptKind.allCases { expectValid(verifier.verify(try Fixture.sample(kind))) }
  }

  @Test("a bad signature at any position costs only itself", arguments: [1, 2, 63, 64, 65])
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
      for kind in ReceiptKind.allCases {
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

  @Test("a signer whose certificates have run out is refused though it is known and has a table")
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
    for _ in 0..<KnownSigner.signaturesThatRepayTable { _ = verifier.verify(receipt) }
    let signer = try #require(verifier.knownSigners.all.first)
    for _ in 0..<500 where signer.fixedKeyVerifier == nil { try await Task.sleep(for: .milliseconds(10)) }
    #expect((signer.fixedKeyVerifier != nil) == VerificationCapabilities.current.hasFixedKeyTables)
    expectValid(verifier.verify(receipt))
  }
}
