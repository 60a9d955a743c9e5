// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import Testing

@testable import ReceiptVerification

/// A signer that is known so well that its signatures are checked by a table: not one flipped bit more is
/// accepted, alone or in a batch.
@Suite struct TableSweepTests {
  private func verifier(knowing sample: [UInt8]) throws -> ReceiptVerifier {
    let verifier = try Fixture.verifier()
    expectValid(verifier.verify(sample))
    for signer in verifier.knownSigners.all { signer.buildTable() }
    return verifier
  }

  @Test("no truncation and no flipped bit of a JWS is accepted by a table, alone or in a batch")
  func flips() async throws {
    let sample = try Fixture.sample(.signedTransaction)
    let verifier = try verifier(knowing: sample)
    let sweep = Sweep(verifier: verifier, sample: sample)
    #expect(await sweep.acceptedFlips().map(\.byte) == [])
    #expect(await sweep.acceptedTruncations() == [])

    let start = try UnverifiedJWS(parsing: sample).encodedHeaderRange.upperBound
    let flipped = (start..<sample.count).map { index in
      var flipped = sample
      flipped[index] ^= 1 << UInt8(index % 7)
      return flipped
    }
    let verdicts = verifier.verifyTogether(flipped[...])
    let fresh = try Fixture.verifier()
    #expect(verdicts == flipped.map { fresh.verify($0) })
    #expect(verdicts.allSatisfy { !$0.isValid })
  }

  @Test("r and s of zero and beyond n are refused by a table as without one, alone or in a batch")
  func ranges() throws {
    let sample = try Fixture.sample(.signedTransaction)
    let verifier = try verifier(knowing: sample)
    let numbers = [[UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32)]
    var receipts: [[UInt8]] = []
    for number in numbers {
      receipts.append(try ForgedJWS.replacingSignature(of: sample) { number + $0[32...] })
      receipts.append(try ForgedJWS.replacingSignature(of: sample) { $0[..<32] + number })
      receipts.append(try ForgedJWS.replacingSignature(of: sample) { _ in number + number })
    }
    receipts.append(sample)
    let together = verifier.verifyTogether(receipts[...])
    #expect(together.map(\.isValid) == [false, false, false, false, false, false, true])
    #expect(together == receipts.map { verifier.verify($0) })
    for verdict in together.dropLast() { expectInvalid(verdict, .signatureMismatch, at: "JWS signature") }
  }
}
