// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

@testable import ReceiptCodec

/// Data and signature in JSON, read byte for byte.
@Suite("Data with a signature beside it") struct DetachedWrappingTests {
  private func parse(_ json: String) throws(MalformedReceipt) -> UnverifiedDetachedReceipt {
    guard case .detached(let receipt) = try UnverifiedReceipt(parsing: Array(json.utf8)) else {
      throw MalformedReceipt(.unrecognized, at: .whole, "another receipt")
    }
    return receipt
  }

  private func failure(_ json: String) -> MalformedReceipt? {
    do throws(MalformedReceipt) {
      _ = try parse(json)
      return nil
    } catch {
      return error
    }
  }

  @Test func `The data is what the string stands for, byte for byte`() throws {
    let receipt = try parse(#"{"data":" {\"a\":\"\\u00e9é\uD83D\uDE00\/\"}\n","signature":"AAEC"}"#)
    #expect(String(decoding: receipt.signedBytes, as: UTF8.self) == " {\"a\":\"\\u00e9é😀/\"}\n")
    #expect(receipt.signature == [0, 1, 2])
    #expect(receipt.statedAlgorithm == nil)
  }

  @Test func `Escapes are resolved wherever they stand`() throws {
    let escapes = [
      (#"\""#, "\""), (#"\\"#, "\\"), (#"\/"#, "/"), (#"\n"#, "\n"), (#"\u0041"#, "A"), (#"\u20AC"#, "€"),
      (#"\ud83d\uDE00"#, "😀"), ("é", "é"),
    ]
    for (spelling, meaning) in escapes {
      for (next, nextMeaning) in escapes {
        for before in 0..<10 {
          for between in [0, 1, 7, 8, 9] {
            for after in [0, 1, 8] {
              let (head, middle, tail) = (
                String(repeating: "a", count: before), String(repeating: "b", count: between),
                String(repeating: "c", count: after)
              )
              let receipt = try parse(
                #"{"data":"\#(head)\#(spelling)\#(middle)\#(next)\#(tail)","signature":"AAEC"}"#)
              #expect(
                String(decoding: receipt.signedBytes, as: UTF8.self) == head + meaning + middle + nextMeaning
                  + tail)
            }
          }
        }
      }
    }
  }

  @Test(arguments: [#"\x"#, #"\"#, #"\u"#, #"\u004"#, #"\u00g1"#, #"\ud83d"#, #"\ude00\ud83d"#, #"\U0041"#])
  func `What is no escape is refused wherever it stands`(escape: String) {
    for before in 0..<10 {
      for after in [0, 1, 8] where after == 0 || escape != #"\"# {
        let text = String(repeating: "a", count: before) + escape + String(repeating: " ", count: after)
        // A lone reverse solidus escapes the quotation mark.
        let code = escape == #"\"# ? MalformedReceipt.Code.unexpected : .invalidValue
        #expect(failure(#"{"data":"\#(text)","signature":"AAEC"}"#)?.code == code, "\(text)")
      }
    }
  }

  @Test(arguments: [
    #"{"data":"x","signature":"AAEC"}"#,
    #"{"signature":"AAEC","data":"x"}"#,
    #"{ "data" : "x" , "signature" : "AAEC" , "extra" : [1] }"#,
    #"{"d\u0061ta":"x","signature":"AAEC"}"#,
    #"{"receipt":"x","signature":"AAEC"}"#,
    #"{"INAPP_PURCHASE_DATA":"x","INAPP_DATA_SIGNATURE":"AAEC"}"#,
    #"{"originalJson":"x","signature":"AAEC"}"#,
    #"{"dataAndroid":"x","signatureAndroid":"AAEC"}"#,
    #"{"inAppPurchaseData":"x","inAppPurchaseDataSignature":"AAEC"}"#,
    #"{"purchaseTokenData":"x","dataSignature":"AAEC","responseCode":"0"}"#,
    #"{"transaction":{"type":"android-playstore","receipt":"x","signature":"AAEC"}}"#,
    #"{"Store":"GooglePlay","TransactionID":"1","Payload":"{\"json\":\"x\",\"signature\":\"AAEC\"}"}"#,
  ])
  func `All wrappings hold the same`(json: String) throws {
    let receipt = try parse(json)
    #expect(receipt.signedBytes == Array("x".utf8))
    #expect(receipt.signature == [0, 1, 2])
    #expect(try parse(String(decoding: receipt.encoded, as: UTF8.self)).signedBytes == receipt.signedBytes)
  }

  @Test func `Unity's payload may be a receipt of Apple's`() throws {
    let der = Base64.encodeToString(SampleReceipts.appReceipt)
    let json = "{\"Store\":\"AppleAppStore\",\"TransactionID\":\"1\",\"Payload\":\"\(der)\"}"
    guard case .appReceipt = try UnverifiedReceipt(parsing: Array(json.utf8)) else {
      Issue.record("no app receipt")
      return
    }
  }

  @Test(arguments: [
    (#"{"data":{"a":1},"signature":"AAEC"}"#, MalformedReceipt.Code.wrongType, "$.data"),
    (#"{"data":5,"signature":"AAEC"}"#, .wrongType, "$.data"),
    (#"{"data":null,"signature":"AAEC"}"#, .wrongType, "$.data"),
    (#"{"data":"x","signature":5}"#, .wrongType, "$.signature"),
    (#"{"data":"x"}"#, .missing, "$.signature"),
    (#"{"data":"x","signature":"AAE"}"#, .invalidBase64, "$.signature"),
    (#"{"receipt":"x","signature":"A-EC"}"#, .invalidBase64, "$.signature"),
    (#"{"data":"x","json":"y","signature":"AAEC"}"#, .unsupported, "$"),
    (#"{"data":"x","data":"x","signature":"AAEC"}"#, .duplicate, "$.data"),
    (#"{"data":{"a":1}}"#, .unrecognized, "$"),
    (#"{"signature":"AAEC"}"#, .unrecognized, "$"),
    (#"{"data":"x","signature":"AAEC","signatureAlgorithm":1}"#, .wrongType, "$.signatureAlgorithm"),
  ])
  func `What cannot be read says where`(json: String, code: MalformedReceipt.Code, place: String) {
    let error = failure(json)
    #expect(error?.code == code, "\(json): \(error?.description ?? "accepted")")
    #expect(error?.place == .jsonPath(place), "\(json): \(error?.description ?? "accepted")")
  }

  @Test func `Nothing may follow the object`() {
    #expect(failure(#"{"data":"x","signature":"AAEC"} {}"#)?.code == .trailingData)
    #expect(failure(#"{"data":"x","signature":"AAEC"}x"#)?.code == .trailingData)
  }

  @Test func `Two stores and a licence are told by their data`() throws {
    func kind(_ data: String) throws -> ReceiptKind {
      try DetachedContent(decoding: Array(data.utf8)).kind
    }
    #expect(try kind(#"{"packageName":"a"}"#) == .googlePlayPurchase)
    #expect(
      try kind(#"{"nonce":-9223372036854775808,"orders":[{"packageName":"a"}]}"#) == .googlePlayPurchase)
    for member in ["applicationId", "applicationIdString", "purchaseTimeMillis", "payType"] {
      #expect(try kind(#"{"packageName":"a","\#(member)":null}"#) == .huaweiPurchase)
    }
    #expect(try kind("0|1|a|2|user|3:VT=4") == .googlePlayLicense)
    for (data, claimed) in [
      (#"{"applicationId":1"#, ReceiptKind.huaweiPurchase), ("{", .googlePlayPurchase),
      ("0|", .googlePlayLicense),
    ] {
      #expect(DetachedContent.claimedKind(of: Array(data.utf8)) == claimed)
    }
  }

  @Test(arguments: [
    ("0|1|a|2|user", MalformedReceipt.Code.missing), ("0|1|a|2|user|3|4", .trailingData),
    ("00|1|a|2|user|3", .invalidValue), ("0|x|a|2|user|3", .invalidValue), ("0|1||2|user|3", .missing),
    ("0|1|a|2|user|3.5", .invalidValue),
  ])
  func `A licence response has six fields`(data: String, code: MalformedReceipt.Code) {
    #expect(throws: MalformedReceipt.self) { try DetachedContent(decoding: Array(data.utf8)) }
    do throws(MalformedReceipt) {
      _ = try DetachedContent(decoding: Array(data.utf8))
    } catch {
      #expect(error.code == code, "\(error)")
    }
  }

  @Test(arguments: [
    (
      "0|-7|com.example|21|user|1700000000000:VT=1&GT=2&LU=a%20b", GooglePlayLicense.ResponseCode.licensed,
      true
    ),
    ("1|2147483647|com.example|21||0", .notLicensed, false), ("2|0|a|b|c|1:", .licensedOldKey, true),
    ("4|0|a|b|c|1", .serverFailure, false), ("259|0|a|b|c|1", .unknown(259), false),
  ])
  func `A licence response is written back as it was`(
    data: String, code: GooglePlayLicense.ResponseCode, isLicensed: Bool
  ) throws {
    let license = try GooglePlayLicense(decoding: Array(data.utf8), limits: .standard)
    #expect(license.responseCode == code)
    #expect(license.responseCode.isLicensed == isLicensed)
    #expect(String(decoding: license.encoded(), as: UTF8.self) == data)
  }

  @Test func `All digits of numbers are kept`() throws {
    let data = #"{"nonce":9223372036854775807,"orders":[{"packageName":"a","purchaseTime":1305550560000}]}"#
    guard case .googlePlayOrders(let list) = try DetachedContent(decoding: Array(data.utf8)) else {
      Issue.record("no order list")
      return
    }
    #expect(list.nonce == .max)
    #expect(list.orders[0].purchaseTime == Timestamp(millisecondsSince1970: 1_305_550_560_000))
    #expect(String(decoding: DetachedContent.googlePlayOrders(list).encoded(), as: UTF8.self) == data)
  }

  @Test(arguments: [
    (#"{"orderId":"1"}"#, "$.packageName"), (#"{"packageName":""}"#, "$.packageName"),
    (#"{"packageName":5}"#, "$.packageName"), (#"{"packageName":"a","purchaseTime":"1"}"#, "$.purchaseTime"),
    (#"{"packageName":"a","productId":"x","productId":"y"}"#, "$.productId"),
    (#"{"orders":[]}"#, "$.orders[0].packageName"),
  ])
  func `Data that names no app, or names a member twice, is refused`(data: String, place: String) {
    do throws(MalformedReceipt) {
      _ = try DetachedContent(decoding: Array(data.utf8))
      Issue.record("accepted: \(data)")
    } catch {
      #expect(error.place == .jsonPath(place), "\(error)")
    }
  }
}
