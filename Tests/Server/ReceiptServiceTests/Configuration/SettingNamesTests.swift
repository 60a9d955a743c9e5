// SPDX-License-Identifier: Apache-2.0

#if Server
  @testable import ReceiptService
  import Testing

  /// One spelling for each setting, and what is said of all others.
  @Suite struct SettingNamesTests {
    private static let names = SettingNames([
      "apps", "console", "listen.port", "listen.tls.privateKey", "metrics.port", "app.shop.record",
      "app.a-b.record",
      "app.a_b.record", "app.shop.policy.default.maximumAge", "app.shop2B.record",
    ])

    @Test(
      "variables are as swift-configuration has them",
      arguments: [
        ("listen.port", "LISTEN_PORT"), ("listen.tls.privateKey", "LISTEN_TLS_PRIVATE_KEY"),
        ("app.my-shop.record", "APP_MY_SHOP_RECORD"), ("app.shop2B.record", "APP_SHOP2B_RECORD"),
        ("limits.maximumBodyByteCount", "LIMITS_MAXIMUM_BODY_BYTE_COUNT"),
        ("app.Shop.keyID", "APP_SHOP_KEY_ID"),
      ])
    func variables(name: String, variable: String) {
      #expect(SettingNames.variable(name) == "RECEIPT_SERVER_\(variable)")
    }

    @Test(
      "a name is a setting's in its own spelling alone",
      arguments: [
        ("console", nil), ("listen.port", nil), ("Console", "It is spelled console."),
        ("listen.Port", "It is spelled listen.port."), ("listenPort", "It is spelled listen.port."),
        ("app.shop.policy.default.maximum_age", "It is spelled app.shop.policy.default.maximumAge."),
        ("consol", "Did you mean console?"), ("konsoel", "no such setting"),
        ("listen.ports.a", "no such setting"),
        ("app", "no such setting"), ("", "no such setting"), ("x", "no such setting"),
      ])
    func names(name: String, hint: String?) throws {
      let mistake = Self.names.mistake(in: name)
      #expect((mistake == nil) == (hint == nil))
      if let hint { #expect(try #require(mistake).contains(hint)) }
    }

    @Test("what differs in case and punctuation alone is told first")
    func spelling() {
      #expect(Self.names.spelling(of: "app.shop.Record") == "app.shop.record")
      #expect(Self.names.spelling(of: "app.shop.record") == nil)
      #expect(Self.names.spelling(of: "app.shop.recrod") == nil)
      #expect(Self.names.isGroup("app.shop"))
      #expect(!Self.names.isGroup("app.sho"))
    }

    @Test("a variable is a setting, a mistake, or something else")
    func judging() {
      func judge(_ variable: String, _ value: String = "1") -> SettingNames.Variable {
        Self.names.judge(variable: variable, value: value)
      }
      #expect(judge("RECEIPT_SERVER_LISTEN_PORT") == .setting)
      #expect(judge("RECEIPT_SERVER_APP_SHOP2B_RECORD") == .setting)
      for variable in [
        "RECEIPT_SERVER_LISTEN_PROT", "RECEIPT_SERVER_LISTEN_HOSTNAME", "RECEIPT_SERVER_APP_SHOP2_B_RECORD",
        "RECEIPT_SERVER_APP_A_B_RECORD", "RECEIPT_SERVER_CONSOL", "receipt_server_console",
        "Receipt_Server_Listen_X",
      ] {
        guard case .mistake = judge(variable) else {
          Issue.record("\(variable) is no mistake")
          continue
        }
      }
      for variable in ["RECEIPT_SERVER_IMAGE", "RECEIPT_SERVER_X", "RECEIPT_SERVERS", "PATH"] {
        #expect(judge(variable) == .unrelated, "\(variable)")
      }
      #expect(
        judge("RECEIPT_SERVER_APP_A_B_RECORD")
          == .mistake("It stands for both app.a-b.record and app.a_b.record. Set them in the file."))
    }

    @Test(
      "variables of services in Kubernetes",
      arguments: [
        ("SERVICE_HOST", "10.0.0.1"), ("SERVICE_PORT", "80"), ("SERVICE_PORT_HTTP", "80"),
        ("SERVICE_PORT_HTTP_ALT", "8080"), ("PORT", "tcp://10.0.0.1:80"), ("PORT", "udp://[fd00::1]:53"),
        ("PORT_80_TCP", "tcp://10.0.0.1:80"), ("PORT_80_TCP_PROTO", "tcp"), ("PORT_80_SCTP_PORT", "80"),
        ("PORT_80_TCP_ADDR", "10.0.0.1"), ("METRICS_SERVICE_HOST", "10.0.0.1"),
        ("METRICS_PORT", "tcp://10.0.0.1:9464"),
        ("LISTEN_PORT_80_TCP_ADDR", "10.0.0.1"),
      ])
    func kubernetes(variable: String, value: String) {
      #expect(SettingNames.isOfKubernetes("RECEIPT_SERVER_\(variable)", value: value))
      #expect(Self.names.judge(variable: "RECEIPT_SERVER_\(variable)", value: value) == .unrelated)
    }

    @Test(
      "variables that only look so",
      arguments: [
        ("PORT", "8080"), ("PORT", "tcp://10.0.0.1"), ("PORT", "http://10.0.0.1:80"), ("PORT", "tcp://:80"),
        ("PORT", "tcp://10.0.0.1:"), ("PORT", "tcp://10.0.0.1:http"),
        ("LISTEN_PORT", "8080"), ("METRICS_PORT", "9464"), ("SERVICE_PORT", "x"), ("PORT_80_TCP", "80"),
        ("PORT_80_TCP_HOST", "a"), ("PORT_HTTP_TCP_ADDR", "a"), ("PORT_80_HTTP_ADDR", "a"),
        ("HOST", "10.0.0.1"),
      ])
    func notKubernetes(variable: String, value: String) {
      #expect(!SettingNames.isOfKubernetes("RECEIPT_SERVER_\(variable)", value: value))
    }
  }
#endif
