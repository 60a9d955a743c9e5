// SPDX-License-Identifier: Apache-2.0

#if Server
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptVerification
  import Testing

  /// Settings that are refused because they cannot take effect.
  @Suite struct ServiceConfigurationTests {
    private static func app(_ name: String, _ bundles: VerificationPolicy.BundleRule) throws
      -> AppConfiguration
    {
      let policy = VerificationPolicy(bundleIds: bundles, environments: [.production])
      return try AppConfiguration(
        name: name, policies: ["default": ReceiptVerifier(trust: TrustAnchors(), policy: policy)])
    }

    private static func refused(
      _ setting: String, _ change: (inout ServiceConfiguration) throws -> Void,
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      var configuration = ServiceConfiguration(apps: [try app("shop", .oneOf(["com.example"]))])
      try configuration.validate()
      try change(&configuration)
      let error = #expect(throws: ServiceConfigurationError.self, sourceLocation: sourceLocation) {
        try configuration.validate()
      }
      #expect(error?.setting == setting, sourceLocation: sourceLocation)
    }

    private static func webhook(_ name: String, _ url: String) -> WebhookEndpoint {
      WebhookEndpoint(name: name, url: url, secrets: [])
    }

    @Test("names stand once, and are names")
    func names() throws {
      try Self.refused("app.shop") { $0.apps.append($0.apps[0]) }
      try Self.refused("app.shop.webhooks") {
        $0.apps[0].webhooks = [
          Self.webhook("h", "https://example.com"), Self.webhook("h", "https://example.org"),
        ]
      }
      try Self.refused("app.shop.webhooks") {
        $0.apps[0].webhooks = [Self.webhook("a.b", "https://example.com")]
      }
      try Self.refused("app.shop.policies") { $0.apps[0].policies["a.b"] = $0.apps[0].policies["default"] }
      try Self.refused("public.url") { $0.publicURL = "receipts.example.com" }
      try Self.refused("retention.days") { $0.retentionDays = 29 }
    }

    @Test(
      "where a webhook cannot lead",
      arguments: [
        "", "example.com", "ftp://example.com", "http://example.com", "http://127.0.0.1", "https://10.0.0.1",
        "https://127.1", "https://localhost", "https://[::1]:9", "https://a:b@example.com",
        "https://example.com/#a",
      ])
    func webhooks(url: String) throws {
      try Self.refused("app.shop.webhook.h.url") { $0.apps[0].webhooks = [Self.webhook("h", url)] }
      #expect(Self.webhook("h", "https://example.com/a?b=c").target.obstacle == nil)
    }

    @Test("private networks are allowed by name, and nothing else is with them")
    func privateNetworks() {
      func obstacle(_ url: String) -> String? {
        WebhookEndpoint(name: "h", url: url, secrets: [], allowsPrivateNetworks: true).target.obstacle
      }
      for url in ["http://127.0.0.1:9", "https://10.0.0.1", "http://backend/hooks?token=secret"] {
        #expect(obstacle(url) == nil)
      }
      #expect(obstacle("ftp://backend/?token=secret")?.contains("secret") == false)
      #expect(obstacle("https://a:secret@backend")?.contains("secret") == false)
    }

    @Test("two apps have no bundle identifier in common")
    func bundles() throws {
      func separate(_ rules: VerificationPolicy.BundleRule...) throws {
        try ServiceConfiguration(
          apps: rules.enumerated().map { try Self.app("app\($0.offset)", $0.element) }
        ).requireSeparateApps()
      }
      try separate(.oneOf(["a"]), .oneOf(["b", "c"]))
      try separate(.any)
      #expect(throws: ServiceConfigurationError.self) { try separate(.oneOf(["a"]), .oneOf(["b", "a"])) }
      #expect(throws: ServiceConfigurationError.self) { try separate(.oneOf(["a"]), .any) }
      #expect(throws: ServiceConfigurationError.self) { try separate(.any, .oneOf(["a"])) }
      // Several policies of one app may share one.
      var app = try Self.app("shop", .oneOf(["a"]))
      app.policies["strict"] = app.policies["default"]
      try ServiceConfiguration(apps: [app]).requireSeparateApps()
    }
  }
#endif
