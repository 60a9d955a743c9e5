// SPDX-License-Identifier: Apache-2.0

@testable import ReceiptCodec
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Of a transaction receipt only the version and purchase-info are signed. What is around them may change, and
/// with it the environment that is claimed; nothing else that is reported.
@Suite struct TransactionReceiptSweepTests {
  @Test(
    "no truncation is accepted, and no flipped bit that changes more than the claimed environment",
    arguments: [TransactionReceiptSigner.SignatureVersion.three, .four])
  func versions(version: TransactionReceiptSigner.SignatureVersion) async throws {
    let sample = try Fixture.receipts.transactionReceipt(version: version)
    let verifier = try Fixture.verifier {
      $0.environments = Set(ReceiptEnvironment.Category.allCases)
    }
    let genuine = try #require(expectValid(verifier.verify(sample)))
    let sweep = Sweep(verifier: verifier, sample: sample)
    let signed = try signedRanges(of: sample)
    #expect(!genuine.isEnvironmentProven)
    let wrong = await sweep.acceptedFlips().filter { flip in
      if signed.contains(where: { $0.contains(flip.byte) }) { return true }
      guard let change = flip.change else { return false }
      return !change.hasSameSignedParts(as: genuine) || change.isEnvironmentProven
    }
    #expect(wrong == [])
    #expect(await sweep.acceptedTruncations() == [])
  }

  @Test("no flip makes a sandbox receipt pass a policy for production")
  func productionOnly() async throws {
    let sample = try Fixture.sample(.transactionReceipt)
    let verifier = try Fixture.verifier { $0.environments = [.production] }
    #expect(await Sweep(verifier: verifier, sample: sample).acceptedFlips() == [])
  }

  /// Returns the ranges of the values of `signature` and `purchase-info`.
  private func signedRanges(of sample: [UInt8]) throws -> [Range<Int>] {
    let list = try PropertyList(parsing: sample)
    return try ["signature", "purchase-info"].map { key in
      let value = Array(try #require(list[key]).utf8)
      let range = try #require(sample.firstRange(of: value))
      // Padding may turn into white space, which base64 may have.
      return range.lowerBound..<range.upperBound - value.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    }
  }
}

extension VerifiedReceipt {
  /// Returns `true` if everything is the same but the environment, which a transaction receipt only claims.
  func hasSameSignedParts(as other: VerifiedReceipt) -> Bool {
    content == other.content && kind == other.kind && bundleId == other.bundleId
      && appAppleId == other.appAppleId && signedAt == other.signedAt && signer == other.signer
      && assurance == other.assurance && nested == other.nested && transactions == other.transactions
  }
}
