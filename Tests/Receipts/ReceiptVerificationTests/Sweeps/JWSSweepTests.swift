// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// A JWS has no bit that is not signed: not one flip is accepted.
@Suite struct JWSSweepTests {
  private func sweep(_ receipt: some Collection<UInt8>) throws -> Sweep {
    let sweep = Sweep(verifier: try Fixture.verifier(), sample: Array(receipt))
    expectValid(sweep.verifier.verify(sweep.sample))
    return sweep
  }

  /// The JWS kinds but the notification, which has a test of its own.
  private static let singleKinds = Fixture.appStoreKinds.filter {
    ![.signedNotification, .appReceipt, .transactionReceipt].contains($0)
  }

  @Test("no truncation and no flipped bit of a JWS is accepted", arguments: singleKinds)
  func single(kind: ReceiptKind) async throws {
    let sweep = try sweep(try Fixture.sample(kind))
    #expect(await sweep.acceptedFlips().map(\.byte) == [])
    #expect(await sweep.acceptedTruncations() == [])
  }

  @Test("no truncation and no flipped bit of a notification with signed parts is accepted")
  func notification() async throws {
    let sweep = try sweep(try Fixture.sample(.signedNotification))
    #expect(await sweep.acceptedFlips().map(\.byte) == [])
    #expect(await sweep.acceptedTruncations() == [])
  }

  @Test("no flipped bit of a part is accepted, though the notification around it is signed anew")
  func nestedPart() async throws {
    let part = Array(try Fixture.receipts.signedTransaction().utf8)
    let signer = try JWSSigner(identity: Fixture.es256.identity)
    let verifier = try Fixture.verifier()
    for index in stride(from: 0, to: part.count, by: Sweep.thinning) {
      var flipped = part
      flipped[index] ^= 1 << UInt8(index % 7)
      var notification = SampleReceipts.notification
      notification.data?.signedTransactionInfo = String(decoding: flipped, as: UTF8.self)
      let verdict = verifier.verify(try signer.sign(.notification(notification)))
      guard case .invalid(let invalid) = verdict else {
        Issue.record("byte \(index): \(verdict.summary)")
        continue
      }
      #expect(invalid.reason.place.hasPrefix("$.data.signedTransactionInfo"))
    }
  }

  @Test("of a JSON file around a JWS only the names around it may change")
  func wrapped() async throws {
    let jws = try Fixture.receipts.signedTransaction()
    let text = "{\"signedTransactionInfo\" : \"\(jws)\" , \"x\":1}\n"
    let sweep = try sweep(Array(text.utf8))
    let flips = await sweep.acceptedFlips()
    #expect(flips.allSatisfy { $0.change == nil })
    let start = "{\"signedTransactionInfo\" : \"".utf8.count
    #expect(flips.allSatisfy { $0.byte < start || $0.byte >= start + jws.utf8.count })
    // All but the new line at the end is needed.
    #expect(await sweep.acceptedTruncations() == [text.utf8.count - 1])
  }
}
