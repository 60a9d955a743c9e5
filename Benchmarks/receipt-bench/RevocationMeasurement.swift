// SPDX-License-Identifier: Apache-2.0

import Glibc
import Measuring
import ReceiptCodec
import RemoteChecks
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// Measures the time that revocation checks add to a verdict once their answers are cached. It verifies signed
/// transactions without checkers, and with a checker that knows their certificates, in turn.
struct RevocationMeasurement: Sendable {
  private let verifier: ReceiptVerifier
  private let checker: RevocationChecker
  private let receipt: [UInt8]

  init() throws {
    let authority = try TestAuthority.es256()
    let identity = try authority.identity(ocspURL: "http://ocsp.example.com")
    let responder = TestRevocationResponder(authority, chain: identity.chain)
    receipt = Array(
      try TestReceipts(jws: identity, rsa: TestAuthority.rsa().identity).signedTransaction().utf8)
    verifier = ReceiptVerifier(
      trust: authority.trustAnchors,
      policy: VerificationPolicy(bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox]))
    checker = RevocationChecker(transport: Responder(responder: responder))
  }

  /// Measures and prints.
  static func report(rounds: Int, seconds: Double) async throws {
    let measurement = try RevocationMeasurement()
    // Enough for whatever a verifier prepares for signers that it meets often.
    for _ in 0..<1_000 { await measurement.requireValid() }
    usleep(200_000)
    var without = Measurement(name: "without")
    var with = Measurement(name: "with")
    for _ in 0..<rounds {
      without.rates.append(await measurement.microseconds(checkers: [], seconds: seconds))
      with.rates.append(await measurement.microseconds(checkers: [measurement.checker], seconds: seconds))
    }
    await measurement.checker.shutdown()
    let (alone, checked) = (without.median, with.median)
    print("\nmicroseconds a verdict, median of rounds")
    print("verify signed transaction, warm, async              \(rounded(alone, decimals: 2))")
    print("the same with warm OCSP cache                       \(rounded(checked, decimals: 2))")
    let added = rounded((checked / alone - 1) * 100, decimals: 2)
    print("added by warm OCSP cache                            \(added) %")
  }

  private func requireValid() async {
    let verdict = await verifier.verify(receipt, checkers: [checker])
    guard verdict.receipt == nil else { return }
    print("The sample does not verify: \(verdict.reason?.description ?? "")")
    exit(70)
  }

  /// Of processor time: nothing else runs in this process meanwhile.
  private func microseconds(checkers: [any RemoteChecker], seconds: Double) async -> Double {
    let start = Clock.seconds()
    let processorStart = Clock.seconds(CLOCK_PROCESS_CPUTIME_ID)
    var count = 0
    repeat {
      for _ in 0..<64 {
        let verdict = await verifier.verify(receipt, checkers: checkers)
        if verdict.receipt != nil { count += 1 }
      }
    } while Clock.seconds() - start < seconds
    return (Clock.seconds(CLOCK_PROCESS_CPUTIME_ID) - processorStart) / Double(count) * 1e6
  }

  /// A responder in this very process.
  private struct Responder: HTTPTransport {
    let responder: TestRevocationResponder

    func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
      guard let body = try? responder.response(to: request.body ?? [], at: SystemClock.now()) else {
        return RemoteResponse(status: 400)
      }
      return RemoteResponse(status: 200, body: body)
    }
  }
}
