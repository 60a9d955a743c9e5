// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
@testable import RemoteChecks
import ReceiptTesting
import ReceiptVerification
import Testing

@Suite struct VerifyReceiptCheckerTests {
  private static let secret = "0123456789abcdef0123456789abcdef"

  private func checker(
    _ transport: FakeTransport, _ environments: Set<ReceiptEnvironment.Category> = [.production, .sandbox],
    secret: String? = nil
  ) throws -> VerifyReceiptChecker {
    VerifyReceiptChecker(
      transport: transport, endpoints: try .appStore(), environments: environments,
      sharedSecret: secret.map { Secret($0) }, time: ManualTime().remoteTime)
  }

  private func body(_ status: Int, _ more: String = "") -> RemoteResponse {
    .json(
      #"{"status":\#(status),"environment":"Sandbox","receipt":{"bundle_id":"\#(SampleReceipts.bundleId)","in_app":[]}\#(more)}"#
    )
  }

  private func answers(_ statuses: Int...) -> FakeTransport {
    FakeTransport(statuses.map { .success(body($0)) })
  }

  @Test("production is asked first, with the unchanged receipt, and confirms it")
  func production() async throws {
    let transport = answers(0)
    let receipt = try RemoteFixture.verified(.appReceipt)
    let answer = try await checker(transport, secret: Self.secret).check(receipt)
    #expect(answer == .response(CheckerResponse(.confirmed, environment: .production)))
    let request = try #require(transport.requests.first)
    #expect(transport.requests.count == 1)
    #expect(request.url.description == "https://buy.itunes.apple.com/verifyReceipt")
    #expect(request.method == .post)
    let sent = try JSONValue(parsing: try #require(request.body))
    #expect(sent["password"]?.string == Self.secret)
    #expect(try Base64.decode(Array(try #require(sent["receipt-data"]?.string).utf8)) == receipt.encoded)
    #expect(!String(reflecting: request).contains(Self.secret))
  }

  @Test("21007 leads to the sandbox and 21008 back, if both are allowed, and never in a loop")
  func environments() async throws {
    let receipt = try RemoteFixture.verified(.appReceipt)
    let both = answers(21007, 0)
    #expect(
      try await checker(both).check(receipt) == .response(CheckerResponse(.confirmed, environment: .sandbox)))
    #expect(both.requests.map(\.url.host) == ["buy.itunes.apple.com", "sandbox.itunes.apple.com"])

    let sandboxOnly = answers(21008)
    guard case .response(let response) = try await checker(sandboxOnly, [.sandbox]).check(receipt),
      case .refused(let message) = response.standing
    else {
      Issue.record("a production receipt passed a policy of sandbox alone")
      return
    }
    #expect(message.contains("production"))
    #expect(sandboxOnly.requests.map(\.url.host) == ["sandbox.itunes.apple.com"])

    guard case .response(let refused) = try await checker(answers(21007), [.production]).check(receipt) else {
      Issue.record("a sandbox receipt passed a policy of production alone")
      return
    }
    #expect(refused.standing == .refused(message: "The store says that the receipt is from sandbox."))

    let circle = answers(21007, 21008, 21007)
    guard case .retryableFailure = try await checker(circle).check(receipt) else {
      Issue.record("no end")
      return
    }
    #expect(circle.requests.count == 2)
  }

  @Test(
    "every status has its answer",
    arguments: [
      (0, "confirmed"), (21006, "confirmed"), (21000, "terminal"), (21001, "terminal"), (21002, "retryable"),
      (21003, "refused"), (21004, "terminal"), (21005, "retryable"), (21009, "retryable"), (21010, "refused"),
      (21100, "terminal"), (21199, "terminal"), (21200, "terminal"), (-1, "terminal"), (7, "terminal"),
    ])
  func statuses(status: Int, expected: String) async throws {
    let answer = try await checker(answers(status)).check(try RemoteFixture.verified(.appReceipt))
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

  @Test("is-retryable is honoured, as flag, number and text", arguments: ["true", "1", #""1""#, #""true""#])
  func retryable(flag: String) async throws {
    let transport = FakeTransport([
      .success(body(21150, #","is-retryable":\#(flag)"#)), .success(body(21007)), .success(body(0)),
    ])
    let answer = try await checker(transport).check(try RemoteFixture.verified(.appReceipt))
    #expect(answer == .response(CheckerResponse(.confirmed, environment: .sandbox)))
  }

  @Test("a refunded purchase is marked while others are valid, and the receipt is revoked if none is")
  func refunds() async throws {
    let receipt = try RemoteFixture.verified(.appReceipt)
    let ids = receipt.transactions.compactMap(\.transactionId)
    try #require(ids.count > 1)
    func purchase(_ id: String) -> String {
      #"{"transaction_id":"\#(id)","cancellation_date_ms":"1700000001000"}"#
    }
    let one = FakeTransport(body(0, #","latest_receipt_info":[\#(purchase(ids[0]))]"#))
    let verdict = try await RemoteFixture.verifier().verify(
      receipt.encoded, checkers: [try checker(one, [.sandbox])])
    let verified = try #require(verdict.receipt)
    let revoked = verified.transactions.filter { $0.revocationDate != nil }
    #expect(revoked.map(\.transactionId) == [ids[0]])
    #expect(revoked.first?.revocationDate == Timestamp(millisecondsSince1970: 1_700_000_001_000))
    #expect(verdict.checks.map(\.name) == ["verify-receipt"])

    let all = FakeTransport(
      body(0, #","latest_receipt_info":[\#(ids.map(purchase).joined(separator: ","))]"#))
    let invalid = try await RemoteFixture.verifier().verify(
      receipt.encoded, checkers: [try checker(all, [.sandbox])])
    #expect(invalid.reason?.code == .revoked)
  }

  @Test("another app's receipt, wrong JSON and HTTP errors never confirm")
  func failures() async throws {
    let receipt = try RemoteFixture.verified(.appReceipt)
    let other = FakeTransport(.json(#"{"status":0,"receipt":{"bundle_id":"com.example.other"}}"#))
    guard case .response(let response) = try await checker(other).check(receipt),
      case .refused = response.standing
    else {
      Issue.record("another app's receipt was not refused")
      return
    }
    let silent = FakeTransport(.json(#"{"status":0}"#))
    guard case .response(let unnamed) = try await checker(silent).check(receipt),
      case .refused = unnamed.standing
    else {
      Issue.record("a response without a receipt confirmed")
      return
    }
    for broken in ["", "{}", "[]", #"{"status":"x"}"#, "<html>"] {
      guard case .retryableFailure = try await checker(FakeTransport(.json(broken))).check(receipt) else {
        Issue.record("\(broken)")
        continue
      }
    }
    for status in [301, 400, 404] {
      guard
        case .terminalFailure = try await checker(FakeTransport(RemoteResponse(status: status))).check(
          receipt)
      else {
        Issue.record("HTTP status \(status)")
        continue
      }
    }
    for status in [429, 500, 503] {
      let transport = FakeTransport(RemoteResponse(status: status))
      guard case .retryableFailure = try await checker(transport).check(receipt) else {
        Issue.record("HTTP status \(status)")
        continue
      }
      #expect(transport.requests.count == 4)
    }
  }

  @Test("it does not support JWS, for which the verdict is undetermined")
  func otherKinds() async throws {
    let transport = answers(0)
    let verdict = try await RemoteFixture.verifier().verify(
      RemoteFixture.encoded(.signedTransaction), checkers: [try checker(transport)])
    #expect(verdict.reason?.code == .checkerUnavailable)
    #expect(transport.requests.isEmpty)
  }

  @Test("no text contains the shared secret")
  func secrets() throws {
    let checker = try checker(answers(0), secret: Self.secret)
    var dumped = ""
    dump(checker, to: &dumped)
    for text in ["\(checker)", String(reflecting: checker), dumped, "\(Secret(Self.secret))"] {
      #expect(!text.contains(Self.secret))
    }
  }
}
