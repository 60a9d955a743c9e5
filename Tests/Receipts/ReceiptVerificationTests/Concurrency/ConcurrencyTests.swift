// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

@Suite struct ConcurrencyTests {
  @Test(
    "one verifier gives the same verdicts from many tasks as from one, for good and bad receipts of all kinds"
  )
  func manyTasks() async throws {
    let verifier = try Fixture.verifier()
    var receipts: [(bytes: [UInt8], expected: Verdict)] = []
    for kind in Fixture.appStoreKinds {
      let sample = try Fixture.sample(kind)
      var damaged = sample
      damaged[damaged.count * 3 / 4] ^= 1
      for bytes in [sample, damaged, Array(sample.dropLast(20))] {
        // A verifier of its own, which knows no signer yet.
        receipts.append((bytes, try Fixture.verifier().verify(bytes)))
      }
    }
    for flaw in TestAuthority.Flaw.allCases {
      let bytes = try Fixture.Container.jws.signed(by: Fixture.es256.identity(flaw))
      receipts.append((bytes, try Fixture.verifier().verify(bytes)))
    }
    let all = receipts
    let wrong = await withTaskGroup(of: Int.self) { group in
      for task in 0..<32 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(task))
          var wrong = 0
          for _ in 0..<4 {
            for (bytes, expected) in all.shuffled(using: &random) where verifier.verify(bytes) != expected {
              wrong += 1
            }
          }
          return wrong
        }
      }
      return await group.reduce(0, +)
    }
    #expect(wrong == 0)
  }

  @Test("verifiers of different policies share nothing")
  func separateVerifiers() throws {
    let receipt = try Fixture.sample(.signedTransaction)
    let trusting = try Fixture.verifier()
    expectValid(trusting.verify(receipt))
    let copy = trusting
    expectValid(copy.verify(receipt))
    let untrusting = ReceiptVerifier(trust: TrustAnchors(), policy: Fixture.policy())
    expectInvalid(untrusting.verify(receipt), .chainUntrusted, at: "certificate 2")
    let otherMarkers = try Fixture.verifier { $0.markers = [.iTunesStore] }
    expectInvalid(otherMarkers.verify(receipt), .certificatePurpose, at: "certificate 0")
  }
}
