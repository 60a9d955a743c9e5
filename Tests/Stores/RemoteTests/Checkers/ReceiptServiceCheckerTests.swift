// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import RemoteChecks
import ReceiptVerification
import Testing

@Suite struct ReceiptServiceCheckerTests {
  private func answer(
    _ response: RemoteResponse, about receipt: VerifiedReceipt? = nil
  ) async throws -> (CheckerAnswer, FakeTransport) {
    let transport = FakeTransport(response)
    let checker = ReceiptServiceChecker(
      try RemoteURL("https://receipts.example.com/base/"), transport: transport, token: Secret("let-me-in"),
      time: ManualTime().remoteTime)
    return (await checker.check(try receipt ?? RemoteFixture.verified(.signedTransaction)), transport)
  }

  @Test("it sends the receipt unchanged and returns the service's verdict")
  func valid() async throws {
    let receipt = try RemoteFixture.verified(.signedTransaction)
    let (answer, transport) = try await answer(
      .json(#"{"verdict":"valid","environment":"sandbox"}"#), about: receipt)
    #expect(answer == .response(CheckerResponse(.confirmed, environment: .sandbox)))
    let request = try #require(transport.requests.first)
    #expect(request.url.description == "https://receipts.example.com/base/v1/verify")
    #expect(request.body == receipt.encoded)
    #expect(request.headers.contains(HTTPHeader("Authorization", "Bearer let-me-in")))
  }

  @Test("an environment that the service only read in the receipt proves nothing")
  func claimedEnvironment() async throws {
    let (answer, _) = try await answer(
      .json(#"{"verdict":"valid","environment":"sandbox","environmentProven":false}"#))
    #expect(answer == .response(CheckerResponse(.confirmed)))
  }

  @Test(
    "every verdict has its answer",
    arguments: [
      (#"{"verdict":"valid","environment":"sandbox","environmentProven":false}"#, "confirmed"),
      (#"{"verdict":"invalid","reason":{"code":"revoked","message":"m"}}"#, "revoked"),
      (#"{"verdict":"invalid","reason":{"code":"too-old","message":"m"}}"#, "refused"),
      (#"{"verdict":"undetermined","retryable":true}"#, "retryable"),
      (#"{"verdict":"undetermined","retryable":false}"#, "terminal"), (#"{"verdict":"maybe"}"#, "terminal"),
      (#"{"verdict":1}"#, "retryable"), ("", "retryable"),
    ])
  func verdicts(body: String, expected: String) async throws {
    let (answer, _) = try await answer(.json(body))
    let found =
      switch answer {
      case .response(let response):
        switch response.standing {
        case .confirmed: "confirmed"
        case .revoked: "revoked"
        case .unknown: "unknown"
        case .refused: "refused"
        }
      case .terminalFailure: "terminal"
      case .retryableFailure: "retryable"
      }
    #expect(found == expected)
  }
}
