// SPDX-License-Identifier: Apache-2.0

#if Server
  import ReceiptCodec
  @testable import ReceiptService
  import Testing

  /// Signatures of Standard Webhooks.
  @Suite struct StandardWebhookSignerTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test("the signature that the libraries of Standard Webhooks expect")
    func vector() throws {
      let signer = StandardWebhookSigner(secrets: [try #require(StandardWebhookSigner.secret(Self.secret))])
      let headers = try signer.headers(
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: Timestamp(millisecondsSince1970: 1_614_265_330_999),
        body: Array(#"{"test": 2432232314}"#.utf8))
      #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
      #expect(
        headers.map(\.value) == [
          "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ])
    }

    @Test("while a secret is changed, both sign")
    func rotation() throws {
      let first = try #require(StandardWebhookSigner.secret(Self.secret))
      let second = Array(repeating: UInt8(7), count: 32)
      func signature(_ secrets: [[UInt8]]) throws -> String {
        try #require(
          StandardWebhookSigner(secrets: secrets)
            .headers(id: "msg_1", at: Timestamp(secondsSince1970: 1), body: [1, 2]).last
        ).value
      }
      #expect(try signature([first, second]) == signature([first]) + " " + signature([second]))
      #expect(try signature([first]) != signature([second]))
    }

    @Test("secrets have one spelling and a sensible length")
    func secrets() throws {
      let bytes = try #require(StandardWebhookSigner.secret(Self.secret))
      #expect(StandardWebhookSigner.text(bytes) == Self.secret)
      for length in [24, 64] {
        let secret = Array(repeating: UInt8(9), count: length)
        #expect(StandardWebhookSigner.secret(StandardWebhookSigner.text(secret)) == secret)
      }
      for text in [
        "", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_!", "whsec_MfKQ9r8G", "WHSEC_" + Self.secret,
        StandardWebhookSigner.text(Array(repeating: 1, count: 23)),
        StandardWebhookSigner.text(Array(repeating: 1, count: 65)),
      ] {
        #expect(StandardWebhookSigner.secret(text) == nil, "\(text)")
      }
    }
  }
#endif
