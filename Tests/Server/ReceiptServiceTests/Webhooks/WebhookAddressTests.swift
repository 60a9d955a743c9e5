// SPDX-License-Identifier: Apache-2.0

#if Server
  import ReceiptBytes
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Testing

  /// The addresses that webhooks may lead to.
  @Suite struct WebhookAddressTests {
    @Test(
      "addresses in the Internet",
      arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
        "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
        "2001:200::1", "2606:4700:4700::1111", "2a00:1450::1", "2003::1", "3ffe:ffff::1",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "2a00::5efe:808:808",
      ])
    func global(text: String) throws { #expect(try Self.address(text).isGlobalUnicast) }

    @Test(
      "all others",
      arguments: [
        // This machine, in every spelling.
        "127.0.0.1", "127.255.255.255", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "0.255.255.255",
        "::1",
        "::", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::1",
        // Private, local and shared networks.
        "10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255",
        "100.64.0.0", "100.127.255.255", "169.254.0.0", "169.254.169.254", "169.254.255.255", "fc00::1",
        "fd12:3456::1", "fdff:ffff::1", "fe80::1", "febf::1", "fec0::1", "::ffff:10.0.0.1",
        "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "64:ff9b::c0a8:1", "64:ff9b:1::808:808",
        "2002:a00:1::1", "2002:a9fe:a9fe::", "2002:c0a8:101::1", "2a00::5efe:a00:1", "2a00::200:5efe:7f00:1",
        // Groups, reserved, documentation, benchmarks, protocols.
        "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255", "ff02::1", "ff0e::1", "192.0.0.1",
        "192.0.2.1", "198.51.100.7", "203.0.113.9", "198.18.0.0", "198.19.255.255", "192.88.99.1",
        "2001:db8::1", "2001::1", "2001:10::1", "2001:1ff::1", "3fff::1", "3fff:fff::1", "100::1", "4000::1",
        "5f00::1", "1fff::1",
      ])
    func special(text: String) throws { #expect(try !Self.address(text).isGlobalUnicast) }

    private static func address(_ text: String) throws -> IPAddress {
      try #require(IPAddress.resolve(text, isNumeric: true).first)
    }

    private static let change = EntitlementChange(
      DatabaseRow([1, "msg_1", "shop", "name", .null, 0, "entitlement.granted", .bytes(Array("{}".utf8))]))

    private static func post(
      _ url: String, allowsPrivateNetworks: Bool = false, resolvingTo addresses: [String]? = nil
    ) async throws -> WebhookQueue.Outcome {
      let resolved = try addresses?.map { try address($0) }
      return await WebhookClient { host in resolved ?? IPAddress.resolve(host) }.post(
        change,
        to: WebhookEndpoint(
          name: "backend", url: url, secrets: [Array(repeating: 1, count: 24)],
          allowsPrivateNetworks: allowsPrivateNetworks), at: SampleReceipts.signedAt)
    }

    @Test("nothing is sent to a host with an address in a private network, though others are public")
    func refused() async throws {
      let receiver = try await WebhookReceiver()
      for host in ["127.0.0.1", "127.1", "2130706433", "localhost", "[::1]", "[::ffff:127.0.0.1]"] {
        guard
          case .failed(let message, nil) = try await Self.post("https://\(host):\(receiver.port)/")
        else {
          Issue.record("\(host) was not refused")
          continue
        }
        #expect(message.contains("not in the Internet"))
      }
      let mixed = try await Self.post(
        "https://example.com:\(receiver.port)/", resolvingTo: ["8.8.8.8", "127.0.0.1"])
      #expect(
        mixed
          == .failed(
            "example.com leads to 127.0.0.1, which is not in the Internet; allow private networks by name."))
      #expect(receiver.requests.isEmpty)
      #expect(
        try await Self.post("https://example.com/", resolvingTo: [])
          == .failed("The host example.com is unknown."))
      await receiver.close()
    }

    @Test(
      "no failure repeats what may be a secret of the URL",
      arguments: [
        ("http://example.com/hooks?token=hunter2", false), ("ftp://example.com/hooks?token=hunter2", false),
        ("https://user:hunter2@example.com/", false), ("https://127.0.0.1:1/?token=hunter2", false),
        // Nothing listens there.
        ("http://127.0.0.1:1/hooks?token=hunter2", true), ("https://127.0.0.1:1/hooks?token=hunter2", true),
        ("example.com/?token=hunter2", true),
      ])
    func secrets(url: String, allowsPrivateNetworks: Bool) async throws {
      guard
        case .failed(let message, nil) = try await Self.post(
          url, allowsPrivateNetworks: allowsPrivateNetworks)
      else {
        Issue.record("\(url) did not fail")
        return
      }
      #expect(!message.contains("hunter2"))
    }

    @Test("plain HTTP is for private networks alone, which are allowed by name")
    func plain() async throws {
      let receiver = try await WebhookReceiver()
      let url = "http://127.0.0.1:\(receiver.port)/hooks?a=b"
      #expect(try await Self.post(url) == .failed("The URL is not https://."))
      #expect(receiver.requests.isEmpty)
      #expect(try await Self.post(url, allowsPrivateNetworks: true) == .delivered)
      #expect(receiver.requests.map(\.uri) == ["/hooks?a=b"])
      await receiver.close()
    }
  }
#endif
