// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptInspection
import ReceiptTesting
import Testing

@Suite("What a receipt says")
struct InspectionTests {
  @Test("The JSON of each kind has its format and contents, and says that nothing was verified")
  func json() throws {
    for kind in ReceiptKind.allCases {
      let inspection = try Inspection(of: kind)
      #expect(inspection.format == kind.rawValue)
      let json = try inspection.json()
      let names = try #require(json.object).prefix(5).map(\.name)
      #expect(names == ["type", "version", "verified", "notice", "format"])
      #expect(json["verified"] == .bool(false))
      #expect(json["format"]?.string == kind.rawValue)
    }
  }

  @Test("What is not a receipt is refused with its place")
  func refused() throws {
    let error = try #require(throws: MalformedReceipt.self) { try Inspection(of: []) }
    #expect(error.code == .empty)
    #expect(error.place == .whole)
  }

  @Test("A summary has sections of names and values; what matters has a word with an emphasis")
  func summary() throws {
    let now = SampleReceipts.expiresAt.addingSeconds(3 * 86_400)
    let sections = try Inspection(of: .signedTransaction).summary(at: now).sections
    let fields = try #require(sections.first).fields
    #expect(sections.count == 1 && sections[0].title == nil)
    let product = try #require(fields.first)
    #expect(product.name == "product" && product.emphasis == nil)
    #expect(product.value == "com.example.app.monthly (Auto-Renewable Subscription)")
    let state = try #require(fields.first { $0.name == "state" })
    #expect(state.word == "EXPIRED" && state.emphasis == .bad)
    #expect(state.value == "EXPIRED 3 days ago, on 2025-11-01 07:09:10 UTC")
  }

  @Test("Each purchase, and each signed part, has a section of its own")
  func sections() throws {
    let receipt = try Inspection(of: .appReceipt).summary(at: SampleReceipts.signedAt)
    #expect(receipt.sections.map(\.title) == [nil, "purchase 1 of 2", "purchase 2 of 2"])
    #expect(receipt.signerSections.map(\.title) == ["signer", "certificates"])
    #expect(receipt.signerSections.last?.certificates.count == 3)
  }

  @Test("Fields have the meaning of numbers and words, and unknown ones are said to be unknown")
  func fields() throws {
    let payload =
      #"{"price":4990,"currency":"CHF","offerType":2,"signedDate":1759302552000,"news":[{"a":true}],"#
    let inspection = try Inspection(
      jws: payload + #""productId":"","transactionId":"1","bundleId":"b","type":"Consumable"}"#,
      certificates: [])
    let fields = inspection.fields
    #expect(fields.map(\.name) == ["payload", "header", "certificates", "signature"])
    guard case .object(let members) = fields[0].content else {
      Issue.record("the payload is not an object")
      return
    }
    func field(_ name: String) throws -> InspectedField { try #require(members.first { $0.name == name }) }
    #expect(try field("price").meanings == ["4.99 CHF"])
    #expect(try field("price").content == .value("4990"))
    #expect(try field("offerType").meanings == [OfferType.promotional.meaning.map { String($0.dropLast()) }])
    #expect(try field("signedDate").meanings == ["2025-10-01 07:09:12 UTC"])
    #expect(try field("productId").content == .value(""))
    #expect(try field("bundleId").meanings.isEmpty)
    let news = try field("news")
    #expect(news.meanings == ["unknown field"])
    guard case .array(let elements) = news.content, case .object(let inner)? = elements.first?.content else {
      Issue.record("the array is not one")
      return
    }
    #expect(elements[0].name == "[0]" && inner[0].content == .value("true"))
  }

  @Test("Attributes of an app receipt have their parts")
  func attributes() throws {
    let fields = try Inspection(of: .appReceipt).fields
    let attributes = try #require(fields.first { $0.name == "attributes" })
    guard case .array(let elements) = attributes.content else {
      Issue.record("the attributes are not an array")
      return
    }
    let bundle = elements.compactMap { element -> [String]? in
      guard case .attribute(let parts) = element.content else { return nil }
      return parts.map(\.value)
    }
    #expect(bundle.contains(["2", "bundleId", "com.example.app"]))
  }

  @Test("Control characters of strangers are replaced in what is shown, and escaped in JSON")
  func controlCharacters() throws {
    let payload =
      #"{"\u001b[2J":"\u0007","productId":"a\u001bb","transactionId":"1","bundleId":"b","signedDate":1}"#
    let inspection = try Inspection(jws: payload, certificates: [])
    let text = InspectionText(of: inspection, source: "\u{1B}.jws")
    for shown in [text.full, text.certificates, text.summary(at: SampleReceipts.signedAt)] {
      #expect(!shown.utf8.contains { $0 < 0x20 && $0 != 0x0A })
    }
    let product = inspection.summary(at: SampleReceipts.signedAt).sections[0].fields[0]
    #expect(product.value == "a\u{FFFD}b")
    #expect(try inspection.json()["payload"]?["\u{1B}[2J"]?.string == "\u{7}")
  }

  @Test("Words that matter are painted, and nothing else")
  func painted() throws {
    let inspection = try Inspection(of: .signedTransaction)
    let now = SampleReceipts.expiresAt
    let painted = InspectionText(of: inspection, source: "-") { word, emphasis in
      "<\(emphasis)>\(word)</>"
    }.summary(at: now)
    #expect(painted.contains("\n  state         <bad>EXPIRED</> just now, on "))
    let plain = painted.replacing("<bad>", with: "").replacing("<caution>", with: "").replacing(
      "</>", with: "")
    #expect(plain == InspectionText(of: inspection, source: "-").summary(at: now))
  }
}
