// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import ReceiptVerification
import Storefront
import Testing

/// The changes that calls make in the emulator, and lists that come in pages.
@Suite struct EmulatorEffectTests {
  private static let uuid = "1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11"

  private func transaction(_ identifier: Int, _ change: (inout JWSTransaction) -> Void = { _ in })
    -> JWSTransaction
  {
    var transaction = SampleReceipts.transaction
    transaction.transactionId = String(identifier)
    change(&transaction)
    return transaction
  }

  private func payload(_ jws: JSONValue?) throws -> JSONValue {
    let text = try #require(jws?.string)
    return try JSONValue(parsing: UnverifiedJWS(parsing: Array(text.utf8)).payload)
  }

  @Test("an extension moves the renewal, twice a year and no more")
  func extensions() async throws {
    let fixture = try await EmulatorFixture()
    let body = #"{"extendByDays":10,"extendReasonCode":1,"requestIdentifier":"a"}"#
    for number in 1...2 {
      let answer = try await fixture.json("PUT", "/inApps/v1/subscriptions/extend/2000000001", body)
      let expires = SampleReceipts.expiresAt.addingSeconds(Double(number) * 10 * 86_400)
      #expect(answer["effectiveDate"]?.int64 == Int64(expires.millisecondsSince1970))
    }
    #expect(await fixture.answer("PUT", "/inApps/v1/subscriptions/extend/2000000001", body).status == 403)
    fixture.clock.advance(seconds: 366 * 86_400)
    #expect(await fixture.answer("PUT", "/inApps/v1/subscriptions/extend/2000000001", body).status == 200)
  }

  @Test("ineligible subscriptions are not extended")
  func ineligible() async throws {
    let fixture = try await EmulatorFixture()
    let body = #"{"extendByDays":10,"extendReasonCode":1,"requestIdentifier":"a"}"#
    let past = fixture.clock.now.addingSeconds(-3600)
    let cases: [(SubscriptionStatus, Int64, (inout JWSTransaction) -> Void)] = [
      (.expired, 4_030_004, { $0.expiresDate = past }), (.billingRetry, 4_030_004, { $0.expiresDate = past }),
      (.active, 4_030_004, { $0.offerDiscountType = .freeTrial }),
      (.active, 4_030_007, { $0.inAppOwnershipType = .familyShared }),
    ]
    for (index, (status, code, change)) in cases.enumerated() {
      let identifier = 7000 + index
      let purchase = transaction(identifier) {
        $0.originalTransactionId = String(identifier)
        change(&$0)
      }
      try await fixture.store.purchases.add([
        LocalStore.ImportedPurchase(purchase, renewalInfo: SampleReceipts.renewalInfo, status: status)
      ])
      let response = await fixture.answer("PUT", "/inApps/v1/subscriptions/extend/\(identifier)", body)
      #expect(try JSONValue(parsing: response.body)["errorCode"]?.int64 == code)
    }
  }

  @Test("of purchases that are refused together, none is taken over")
  func refusedTogether() async throws {
    let fixture = try await EmulatorFixture()
    let now = fixture.clock.now
    let purchases = [SubscriptionStatus.active, .expired].enumerated().map { index, status in
      let purchase = transaction(7001 + index) {
        $0.originalTransactionId = String(7001 + index)
        $0.expiresDate = now.addingSeconds(3600)
      }
      return LocalStore.ImportedPurchase(purchase, renewalInfo: SampleReceipts.renewalInfo, status: status)
    }
    // The second contradicts its dates.
    await #expect(throws: LocalStoreError.self) { try await fixture.store.purchases.add(purchases) }
    let before = try await fixture.store.purchases.notifications().count
    // The next operation stores nothing of the first, and nothing happens to it later.
    try await fixture.store.purchases.add([LocalStore.ImportedPurchase(transaction(8001))])
    #expect(try await fixture.store.purchases.subscriptionState("7001") == nil)
    #expect(await fixture.answer("GET", "/inApps/v1/transactions/7001").status == 404)
    fixture.clock.advance(seconds: 70 * 86_400)
    let later = try await fixture.store.purchases.notifications(after: Int64(before))
    #expect(!later.contains { ["7001", "7002"].contains($0.originalTransactionIdentifier) })
  }

  @Test("Advanced Commerce calls are recorded, and cancel and revoke")
  func advancedCommerce() async throws {
    let fixture = try await EmulatorFixture()
    let information = "\"requestInfo\":{\"requestReferenceId\":\"\(Self.uuid)\"}"
    let calls = [
      ("subscription/cancel", ""),
      ("subscription/changeMetadata", ""), ("subscription/changePrice", ",\"items\":[]"),
      ("subscription/migrate", ",\"targetProductId\":\"p\",\"descriptors\":{},\"items\":[]"),
      (
        "subscription/revoke",
        ",\"refundReason\":\"LEGAL\",\"refundType\":\"FULL\",\"refundRiskingPreference\":true"
      ), ("transaction/requestRefund", ",\"items\":[],\"refundRiskingPreference\":true"),
    ]
    for (path, members) in calls.dropLast() {
      let answer = try await fixture.json(
        "POST", "/advancedCommerce/v1/\(path)/2000000001", "{\(information)\(members)}")
      #expect(try payload(answer["signedTransactionInfo"])["transactionId"]?.string == "2000000001")
      #expect(try payload(answer["signedRenewalInfo"])["autoRenewStatus"]?.int64 == 0)
    }
    #expect(fixture.store.state.withState { $0.advancedCommerceRequests.count } == calls.count - 1)
    #expect(try await fixture.store.purchases.subscriptionState("2000000001")?.status == .revoked)
    let sent = try await fixture.store.purchases.notifications().map(\.type)
    #expect(sent == [.didChangeRenewalStatus, .metadataUpdate, .priceChange, .migration, .refund])
    // A refunded purchase is neither revoked nor refunded again.
    for (path, code) in [("subscription/revoke", 4_000_186), ("transaction/requestRefund", 4_030_021)] {
      let members = try #require(calls.first { $0.0 == path }).1
      let again = await fixture.answer(
        "POST", "/advancedCommerce/v1/\(path)/2000000001", "{\(information)\(members)}")
      #expect(try JSONValue(parsing: again.body)["errorCode"]?.int64 == Int64(code))
    }
  }

  @Test("consumption information and finishing are kept; finished consumables leave the older history")
  func consumables() async throws {
    let fixture = try await EmulatorFixture()
    let coins = transaction(42) {
      $0.originalTransactionId = "42"
      $0.type = .consumable
    }
    try await fixture.store.purchases.add([LocalStore.ImportedPurchase(coins)])
    let body =
      #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED","#
      + #""consumptionPercentage":50000,"refundPreference":"GRANT_PRORATED"}"#
    #expect(await fixture.answer("PUT", "/inApps/v2/transactions/consumption/42", body).status == 202)
    #expect(try await fixture.store.purchases.consumption(of: "42").count == 1)
    #expect(try await fixture.json("GET", "/inApps/v1/history/42")["signedTransactions"]?.array?.count == 1)
    #expect(await fixture.answer("POST", "/inApps/v1/transactions/42/finish").body == [])
    #expect(try await fixture.json("GET", "/inApps/v1/history/42")["signedTransactions"]?.array?.count == 0)
    #expect(try await fixture.json("GET", "/inApps/v2/history/42")["signedTransactions"]?.array?.count == 1)
  }

  @Test("refunds are paged, by the date of revocation")
  func refunds() async throws {
    let fixture = try await EmulatorFixture()
    for number in 0..<45 {
      let date = fixture.clock.now.addingSeconds(Double(-number))
      try await fixture.store.purchases.add([LocalStore.ImportedPurchase(transaction(9000 + number))])
      try await fixture.store.purchases.amend(String(9000 + number)) { $0.revocationDate = date }
    }
    var dates: [Int64] = []
    var revision = ""
    for page in [20, 20, 5] {
      let answer = try await fixture.json("GET", "/inApps/v2/refund/lookup/2000000001\(revision)")
      let signed = try #require(answer["signedTransactions"]?.array)
      #expect(signed.count == page)
      dates += try signed.map { try #require(try payload($0)["revocationDate"]?.int64) }
      #expect(answer["hasMore"] == .bool(page == 20))
      revision = "?revision=\(try #require(answer["revision"]?.string))"
    }
    #expect(dates == dates.sorted() && Set(dates).count == 45)
    let first = try await fixture.json("GET", "/inApps/v1/refund/lookup/2000000001")
    #expect(first["signedTransactions"]?.array?.count == 45)
  }

  @Test("groups exist only in the sandbox, and their members are paged")
  func groups() async throws {
    let fixture = try await EmulatorFixture()
    let members =
      (0..<250).map { String($0) } + [try #require(SampleReceipts.appTransaction.appTransactionId)]
    let roles = #"[{"productId":"p","role":"MEMBER"}]"#
    let group = #"{"groupId":"7","groupType":"TEAM","roles":\#(roles),"members":\#(members)}"#
    let seed = try EmulatorSeed(
      json: JSONValue(parsing: Array("{\"groups\":[\(group)]}".utf8)),
      configuration: fixture.store.configuration)
    try await seed.apply(to: fixture.store)
    let groups = try await fixture.json("GET", "/groups/v1/currentGroups/2000000001")
    #expect(groups["groups"]?.array?.map { $0["groupId"]?.string } == ["7"])
    #expect(groups["groups"]?.array?.first?["roles"] == (try JSONValue(parsing: Array(roles.utf8))))
    var found: [String] = []
    var token: String?
    repeat {
      let query = "?limit=100" + (token.map { "&paginationToken=\($0)" } ?? "")
      let page = try await fixture.json("GET", "/groups/v1/group/7\(query)")
      found += (page["members"]?.array ?? []).compactMap { $0["appTransactionId"]?.string }
      token = page["paginationToken"]?.string
    } while token != nil
    #expect(found == members)
    #expect(await (try await EmulatorFixture(.production)).answer("GET", "/groups/v1/group/7").status == 404)
  }

  @Test("the responder reports revoked certificates, and counts the requests for each")
  func responder() async throws {
    let signing = try EmulatorSigning(serverURL: "http://127.0.0.1:1")
    let store = try EmulatedAppStore(signing: signing)
    let response = await store.respond(to: EmulatorRequest("POST", target: "/ocsp", body: [1, 2, 3]))
    #expect(response.status == 200)
    // OCSPResponse with responseStatus malformedRequest (RFC 6960 section 4.2.1).
    #expect(response.body == [0x30, 0x03, 0x0A, 0x01, 0x01])
    #expect(store.statistics.counts.ocspRequests.isEmpty)
    let fixture = try await EmulatorFixture()
    for (method, target) in [("POST", "/ocsp"), ("GET", "/ocsp/MAA="), ("GET", "/crl/root.crl")] {
      #expect(await fixture.answer(method, target).status == 404)
    }
  }

  @Test("a request with SHA-256, in the path or the body, is answered with its own CertID")
  func sha256() async throws {
    let store = try EmulatedAppStore(signing: try EmulatorSigning(serverURL: "http://127.0.0.1:1"))
    try await store.purchases.add([LocalStore.ImportedPurchase(SampleReceipts.transaction)])
    let answer = await store.respond(to: EmulatorRequest("GET", target: "/inApps/v1/transactions/2000000001"))
    let jws = try #require(JSONValue(parsing: answer.body)["signedTransactionInfo"]?.string)
    let header = try UnverifiedJWS(parsing: Array(jws.utf8)).header()
    let chain = try header.x5c.map { try Certificate(der: $0) }
    let now = Int64(SystemClock.now().millisecondsSince1970 / 1000)
    for (certificate, issuer) in zip(chain, chain.dropFirst()) {
      let request = try OCSPRequest(certificate: certificate, issuer: issuer, hash: .sha256)
      let path = Base64.encodeToString(request.der)
      for asked in [
        EmulatorRequest("POST", target: "/ocsp", body: request.der),
        EmulatorRequest("GET", target: "/ocsp/\(path)"),
      ] {
        let response = await store.respond(to: asked)
        #expect(response.status == 200)
        let status = try OCSPResponse(der: response.body).status(
          of: certificate, issuer: issuer, nonce: request.nonce, requiresNonce: true, at: now)
        #expect(status.standing == .good)
        // id-sha256, and not id-sha1 (RFC 8017 appendix B.1).
        #expect(response.body.firstRange(of: [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]) != nil)
        #expect(response.body.firstRange(of: [0x2B, 0x0E, 0x03, 0x02, 0x1A]) == nil)
      }
      let name = issuer == chain.last ? "root" : "intermediate"
      let list = await store.respond(to: EmulatorRequest("GET", target: "/crl/\(name).crl"))
      let status = try CertificateRevocationList(der: list.body).status(
        of: certificate, issuer: issuer, at: now)
      #expect(status.standing == .good)
    }
    #expect(store.statistics.counts.ocspRequests == ["07": 2, "08": 2])
    #expect(await store.respond(to: EmulatorRequest("GET", target: "/crl/leaf.crl")).status == 404)
  }
}
