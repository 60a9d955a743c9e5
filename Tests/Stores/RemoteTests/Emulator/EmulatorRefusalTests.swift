// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import ReceiptCodec
import ReceiptCrypto
import AppStoreServer
import ReceiptSigning
import ReceiptTesting
import Testing

/// The emulator's refusals, with Apple's error numbers.
@Suite struct EmulatorRefusalTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    let method: String
    let target: String
    let body: String
    let code: Int64

    init(_ method: String, _ target: String, _ body: String, _ code: Int64) {
      (self.method, self.target, self.body, self.code) = (method, target, body, code)
    }

    init(_ method: String, _ target: String, _ code: Int64) { self.init(method, target, "", code) }

    var testDescription: String { "\(method) \(target) \(body.prefix(80)) → \(code)" }
  }

  private static let history = "/inApps/v2/history/2000000001"
  private static let transactions = "/inApps/v1/transactions/"
  private static let extend = "/inApps/v1/subscriptions/extend/"
  private static let uuid = "1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11"
  private static let consumption = "/inApps/v2/transactions/consumption/2000000001"
  private static let messaging = "/inApps/v1/messaging/"

  static let purchases = [
    Refusal("GET", "\(history)?revision=x", 4_000_005), Refusal("GET", "/inApps/v2/history/abc", 4_000_006),
    Refusal("GET", "\(history)?startDate=soon", 4_000_015),
    Refusal("GET", "\(history)?startDate=9999999999999", 4_000_015),
    Refusal("GET", "\(history)?startDate=2&endDate=1", 4_000_016),
    Refusal("GET", "\(history)?endDate=-1", 4_000_016), Refusal("GET", "\(history)?sort=UP", 4_000_021),
    Refusal("GET", "\(history)?productType=FOOD", 4_000_022),
    Refusal("GET", "\(history)?productId=", 4_000_023),
    Refusal("GET", "\(history)?subscriptionGroupIdentifier=x", 4_000_024),
    Refusal("GET", "\(history)?excludeRevoked=maybe", 4_000_025),
    Refusal("GET", "\(history)?inAppOwnershipType=STOLEN", 4_000_026),
    Refusal("GET", "\(history)?revoked=1", 4_000_030), Refusal("GET", "/inApps/v2/history/1", 4_040_010),
    Refusal("GET", "\(transactions)x", 4_000_006), Refusal("GET", "\(transactions)1", 4_040_010),
    Refusal("GET", "\(transactions)704289572311513293", 4_000_048),
    Refusal("GET", "\(transactions)appTransactions/1", 4_040_010),
    Refusal("POST", "\(transactions)1/finish", 4_040_010),
    Refusal("GET", "/inApps/v1/subscriptions/2000000001?status=6", 4_000_031),
    Refusal("GET", "/inApps/v1/subscriptions/1", 4_040_010),
    Refusal("GET", "/inApps/v2/refund/lookup/2000000001?revision=x", 4_000_005),
    Refusal("GET", "/inApps/v2/refund/lookup/x", 4_000_006),
    Refusal("PUT", "\(transactions)2000000001/appAccountToken", #"{"appAccountToken":"x"}"#, 4_000_183),
    Refusal("PUT", "\(transactions)1/appAccountToken", "{\"appAccountToken\":\"\(uuid)\"}", 4_040_005),
  ]

  static let extensions = [
    Refusal("PUT", "\(extend)x", "{}", 4_000_008),
    Refusal("PUT", "\(extend)2000000001", "", 4_000_000),
    Refusal("PUT", "\(extend)2000000001", #"{"extendByDays":0}"#, 4_000_009),
    Refusal("PUT", "\(extend)2000000001", #"{"extendByDays":91}"#, 4_000_009),
    Refusal("PUT", "\(extend)2000000001", #"{"extendByDays":9,"extendReasonCode":4}"#, 4_000_010),
    Refusal("PUT", "\(extend)2000000001", #"{"extendByDays":9,"extendReasonCode":0}"#, 4_000_011),
    Refusal(
      "PUT", "\(extend)1", #"{"extendByDays":9,"extendReasonCode":0,"requestIdentifier":"a"}"#, 4_040_005),
    Refusal(
      "POST", "\(extend)mass", #"{"extendByDays":9,"extendReasonCode":0,"requestIdentifier":"a"}"#, 4_000_011),
    Refusal(
      "POST", "\(extend)mass",
      "{\"extendByDays\":9,\"extendReasonCode\":0,\"requestIdentifier\":\"\(uuid)\"}",
      4_000_023),
    Refusal("GET", "\(extend)mass/p/x", 4_000_011), Refusal("GET", "\(extend)mass/p/\(uuid)", 4_040_009),
  ]

  static let consumptions = [
    Refusal("PUT", consumption, #"{"customerConsented":false}"#, 4_000_035),
    Refusal("PUT", consumption, #"{"customerConsented":true}"#, 4_000_041),
    Refusal("PUT", consumption, #"{"customerConsented":true,"sampleContentProvided":false}"#, 4_000_036),
    Refusal(
      "PUT", consumption,
      #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED","refundPreference":"NO"}"#,
      4_000_044),
    Refusal(
      "PUT", consumption,
      #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED","consumptionPercentage":5}"#,
      4_000_209),
    Refusal(
      "PUT", "\(transactions)consumption/2000000001",
      #"{"customerConsented":true,"sampleContentProvided":false,"playTime":8}"#, 4_000_040),
  ]

  static let others = [
    Refusal("GET", "/inApps/v1/notifications/test/x", 4_000_020),
    Refusal("GET", "/inApps/v1/notifications/test/\(uuid)_1759302552", 4_040_008),
    Refusal("POST", "/inApps/v1/notifications/history", #"{"endDate":1}"#, 4_000_015),
    Refusal("POST", "/inApps/v1/notifications/history", #"{"startDate":1}"#, 4_000_016),
    Refusal("POST", "/inApps/v1/notifications/history", #"{"startDate":2,"endDate":1}"#, 4_000_013),
    Refusal("POST", "/inApps/v1/notifications/history", #"{"startDate":1,"endDate":2}"#, 4_000_012),
    Refusal(
      "POST", "/inApps/v1/notifications/history?paginationToken=x",
      #"{"startDate":1759302552000,"endDate":1759302553000}"#, 4_000_014),
    Refusal("PUT", "\(messaging)image/\(uuid)", "GIF", 4_000_161),
    Refusal("PUT", "\(messaging)image/\(uuid)?imageSize=HUGE", 4_000_216),
    Refusal("DELETE", "\(messaging)image/\(uuid)", 4_040_014),
    Refusal("DELETE", "\(messaging)message/\(uuid)", 4_040_015),
    Refusal("GET", "\(messaging)default/p/en-US", 4_040_020),
    Refusal("GET", "\(messaging)default/p/!", 4_000_164),
    Refusal("GET", "\(messaging)realtime/url", 4_040_021),
    Refusal("PUT", "\(messaging)realtime/url", #"{"realtimeURL":"http://a"}"#, 4_000_215),
    Refusal("POST", "\(messaging)performanceTest", "{}", 4_000_211),
    Refusal("GET", "\(messaging)performanceTest/result/x", 4_000_212),
    Refusal("GET", "\(messaging)performanceTest/result/\(uuid)", 4_040_018),
    Refusal("GET", "/groups/v1/group/7", 4_040_022),
    Refusal("GET", "/groups/v1/group/7?limit=101", 4_000_004),
    Refusal("POST", "/advancedCommerce/v1/subscription/cancel/2000000001", "{}", 4_000_000),
    Refusal("POST", "/advancedCommerce/v1/subscription/cancel/1", "{}", 4_040_010),
  ]

  @Test(
    "bad input has its error code and the code's status",
    arguments: purchases + extensions + consumptions + others)
  func refusal(refusal: Refusal) async throws {
    let fixture = try await EmulatorFixture()
    let response = await fixture.answer(refusal.method, refusal.target, refusal.body)
    #expect(response.status == Int(refusal.code / 10_000))
    #expect(response.headers == [HTTPHeader("Content-Type", "application/json")])
    let json = try JSONValue(parsing: response.body)
    #expect(json["errorCode"]?.int64 == refusal.code)
    #expect(json["errorMessage"]?.string?.isEmpty == false)
  }

  @Test("there is an endpoint for each call of the client", arguments: AppStoreServerEndpoint.allCases)
  func endpoints(endpoint: AppStoreServerEndpoint) async throws {
    let fixture = try await EmulatorFixture(.production)
    let path = endpoint.path.split(separator: "/").map { $0.hasPrefix("{") ? "1" : $0 }
    _ = await fixture.answer(endpoint.method.rawValue, "/" + path.joined(separator: "/"))
    let asked = fixture.store.statistics.counts.requests.keys
    #expect(asked.count == 1)
    #expect(asked.first?.hasPrefix(endpoint.method.rawValue) == true, "\(asked)")
  }

  @Test("all claims of tokens are checked")
  func tokens() async throws {
    let fixture = try await EmulatorFixture(checksTokens: true)
    let now = fixture.clock.now
    func status(_ authorization: String?) async -> Int {
      await fixture.store.respond(
        to: EmulatorRequest(
          "GET", target: "/inApps/v1/transactions/2000000001",
          headers: authorization.map { [HTTPHeader("authorization", $0)] } ?? [])
      ).status
    }
    let right = try EmulatorFixture.signer().serverToken(issuedAt: now)
    #expect(await status("Bearer \(right)") == 200)
    var wrong: [String?] = [nil, "", "Basic \(right)", "Bearer", "Bearer x", "Bearer \(right)x"]
    wrong += [
      "Bearer " + (try EmulatorFixture.signer(keyId: "OTHERKEY12").serverToken(issuedAt: now)),
      "Bearer " + (try EmulatorFixture.signer(issuerId: "other").serverToken(issuedAt: now)),
      "Bearer " + (try EmulatorFixture.signer(bundleId: "com.example.other").serverToken(issuedAt: now)),
      "Bearer " + (try EmulatorFixture.signer(key: .generateP256()).serverToken(issuedAt: now)),
      "Bearer " + (try EmulatorFixture.signer().serverToken(issuedAt: now.addingSeconds(-300))),
      "Bearer " + (try EmulatorFixture.signer().serverToken(issuedAt: now.addingSeconds(120))),
    ]
    for authorization in wrong { #expect(await status(authorization) == 401, "\(authorization ?? "none")") }
    #expect(fixture.store.statistics.counts.distinctTokens == wrong.count)
  }
}
