// SPDX-License-Identifier: Apache-2.0

import Entitlements
import PolicyDocuments
import ReceiptCodec
import ReceiptVerification

/// Answers the cases of the conformance suite by the libraries of this package.
struct Conformer {
  /// The verifiers by policy and clock, which many cases share.
  private var verifiers: [VerifierKey: ReceiptVerifier] = [:]

  private struct VerifierKey: Hashable {
    let policy: [UInt8]
    let time: Timestamp
  }

  private static let keptVerifiers = 64

  /// The answer to a case, on a line.
  ///
  /// - Throws: The error of a line that is no case, or of a policy that cannot be followed.
  mutating func answer(to line: [UInt8]) async throws -> [UInt8] {
    let asked = try ConformanceCase(line: line)
    let answer =
      switch asked.operation {
      case "verify":
        ConformanceAnswer(try verifier(of: asked).verify(asked.receipt), at: asked.time)
      case "grants":
        try await ConformanceAnswer(
          granting: asked,
          asked.grants().map { batch in try batch.map { (asked: $0, verifier: try verifier(of: $0)) } })
      case "verify-all": try await ConformanceAnswer(together: asked, by: Self.newVerifier(for: asked))
      case "ocsp", "crl": try ConformanceAnswer(ofRevocation: asked)
      case "entitlements": try ConformanceAnswer(folding: asked, by: verifier(of: asked))
      case "play-entitlements": try await ConformanceAnswer(foldingPlay: asked)
      case "play-standing": try await ConformanceAnswer(askingPlay: asked, by: verifier(of: asked))
      default: try ConformanceAnswer(ofLog: asked)
      }
    return answer.line(asked.id)
  }

  private mutating func verifier(of asked: ConformanceCase) throws -> ReceiptVerifier {
    let key = VerifierKey(policy: asked.policy, time: asked.time)
    if let verifier = verifiers[key] { return verifier }
    let verifier = try Self.newVerifier(for: asked)
    if verifiers.count >= Self.keptVerifiers { verifiers.removeAll() }
    verifiers[key] = verifier
    return verifier
  }

  private static func newVerifier(for asked: ConformanceCase) throws -> ReceiptVerifier {
    let document = try PolicyDocument(
      json: asked.policy, part: "policy", limits: ReceiptLimits(maximumByteCount: asked.policy.count),
      isStrict: true)
    return try document.verifier(clock: { asked.time })
  }
}
