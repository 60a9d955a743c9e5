// SPDX-License-Identifier: Apache-2.0

#if Server
  import ReceiptCodec
  @testable import ReceiptService
  import RemoteChecks
  import Testing

  /// What a line of an import is.
  @Suite struct ImportLineTests {
    private static func line(_ text: String) throws(ImportFailure) -> ImportLine {
      try ImportLine(Array(text.utf8))
    }

    @Test(arguments: [
      (#"{"transactionId": "1", "customer": "ann"}"#, PurchaseReference.appStoreTransaction("1"), false),
      (
        #"{"transactionId": 2000000000000001, "customer": "ann"}"#, .appStoreTransaction("2000000000000001"),
        false
      ),
      (#"{"orderId": "MK5TTTVWJH", "store": null, "customer": "ann"}"#, .appStoreOrder("MK5TTTVWJH"), false),
      (#"  {"purchaseToken": "t", "customer": "ann"}\#r"#, .googlePlay(purchaseToken: "t"), false),
      (
        #"{"purchaseToken": "t", "productId": "p", "packageName": "a.b", "subscription": true, "customer": "ann"}"#,
        .googlePlay(purchaseToken: "t", productId: "p", packageName: "a.b"), true
      ),
      (
        #"{"store": "huawei", "purchaseToken": "t", "productId": "p", "customer": "ann"}"#,
        .huawei(purchaseToken: "t", productId: "p"), false
      ),
    ])
    func references(_ text: String, _ reference: PurchaseReference, _ isSubscription: Bool) throws {
      let line = try Self.line(text)
      #expect(line.customer == "ann")
      guard case .reference(let found, let hint) = line.content else {
        Issue.record("no reference")
        return
      }
      #expect(found == reference && hint == isSubscription)
    }

    @Test(
      arguments: [
        ("eyJ.e30.e30", "eyJ.e30.e30", nil), (#"{"receipt": "MIIT"}"#, "MIIT", nil),
        (#"{"receipt": "MIIT", "customer": "ann"}"#, "MIIT", "ann"),
        (
          #"{"receipt": {"data": "{}", "signature": "x"}, "customer": 7}"#, #"{"data":"{}","signature":"x"}"#,
          "7"
        ),
        (#"{"signedTransactionInfo": "a.b.c"}"#, #"{"signedTransactionInfo": "a.b.c"}"#, nil),
        ("{", "{", nil), ("[]", "[]", nil), (#"{"customer": "ann"}"#, #"{"customer": "ann"}"#, nil),
      ] as [(String, String, String?)])
    func receipts(_ text: String, _ receipt: String, _ customer: String?) throws {
      let line = try Self.line(text)
      #expect(line.customer == customer && line.unknownMember == nil)
      guard case .receipt(let bytes) = line.content else {
        Issue.record("no receipt")
        return
      }
      #expect(String(decoding: bytes, as: UTF8.self) == receipt)
    }

    @Test(arguments: [
      (#"{"transactionId": "1", "orderId": "2"}"#, "$.store"), (#"{"transactionId": ""}"#, "$.transactionId"),
      (#"{"transactionId": true}"#, "$.transactionId"),
      (#"{"transactionId": "1", "customer": ""}"#, "$.customer"),
      (#"{"purchaseToken": "1", "subscription": 1}"#, "$.subscription"),
      (#"{"purchaseToken": 1}"#, "$.purchaseToken"),
      (#"{"purchaseToken": "1", "store": "app-store"}"#, "$.store"),
      (#"{"receipt": "x", "transactionId": "1"}"#, "$"), (#"{"receipt": "x", "subscription": true}"#, "$"),
    ])
    func mistakes(_ text: String, _ place: String) throws {
      let failure = #expect(throws: ImportFailure.self) { try Self.line(text) }
      #expect(failure?.code == "invalid-line")
      #expect(failure?.message.hasPrefix("\(place): ") == true, "\(failure?.message ?? "")")
    }

    @Test func anUnknownMemberIsNamed() throws {
      #expect(try Self.line(#"{"transactionId": "1", "custmer": "ann"}"#).unknownMember == "custmer")
    }
  }
#endif
