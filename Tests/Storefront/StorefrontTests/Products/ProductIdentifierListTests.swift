// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storefront
import Testing

@Suite struct ProductIdentifierListTests {
  private static let propertyList = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <!-- what we sell -->
    <plist version="1.0">
    <array>
    \t<string>com.example.coins</string>
    \t<string>com.example.brushes</string>
    \t<!-- later: <string>com.example.gems</string> -->
    </array>
    </plist>

    """

  private func error(propertyList text: String) -> ProductIdentifierError? {
    identifierError { () throws(ProductIdentifierError) in
      _ = try ProductIdentifierList(propertyList: Array(text.utf8))
    }
  }

  private func error(json text: String) -> ProductIdentifierError? {
    identifierError { () throws(ProductIdentifierError) in
      _ = try ProductIdentifierList(json: Array(text.utf8))
    }
  }

  @Test func readsAPropertyList() throws {
    let list = try ProductIdentifierList(propertyList: Array(Self.propertyList.utf8))
    #expect(list.identifiers == ["com.example.coins", "com.example.brushes"])
    #expect(list.duplicates.isEmpty)
  }

  @Test func readsABinaryPropertyList() throws {
    func list(_ value: Any) throws -> ProductIdentifierList {
      let data = try PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0)
      return try ProductIdentifierList(propertyList: Array(data))
    }
    func refusal(_ value: Any) -> ProductIdentifierError? {
      do { _ = try list(value) } catch { return error as? ProductIdentifierError }
      return nil
    }
    #expect(try list(["b", "com.example.café", "b"]).identifiers == ["b", "com.example.café"])
    #expect(try list([String]()).identifiers == [])
    for (value, code, place) in [
      (["a": "b"], .wrongType, "$"), ("a", .wrongType, "$"), (["a", 1], .wrongType, "$[1]"),
      (["a", ["b"]], .wrongType, "$[1]"), (["a", ""], .invalidIdentifier, "$[1]"),
      ([String(repeating: "a", count: 256)], .invalidIdentifier, "$[0]"),
      ([String](repeating: "a", count: ProductIdentifierList.maximumCount + 1), .tooLarge, "$"),
    ] as [(Any, ProductIdentifierError.Code, String)] {
      let refusal = refusal(value)
      #expect(refusal?.code == code)
      #expect(refusal?.place == place)
    }
  }

  /// Every element refers to one string of 3 MB.
  @Test func anElementThatIsRepeatedIsNotCopiedWithoutEnd() {
    let count = 90_000
    var bytes = Array("bplist00".utf8) + [0xAF, 0x12] + Self.bigEndian(count)
    bytes += [UInt8](repeating: 1, count: count)
    let string = bytes.count
    bytes += [0x5F, 0x12] + Self.bigEndian(3_000_000) + [UInt8](repeating: 0x61, count: 3_000_000)
    let table = bytes.count
    bytes += Self.bigEndian(8) + Self.bigEndian(string)
    bytes += [0, 0, 0, 0, 0, 0, 4, 1]
    for number in [2, 0, table] { bytes += [0, 0, 0, 0] + Self.bigEndian(number) }
    let whole = bytes
    let error = identifierError { () throws(ProductIdentifierError) in
      _ = try ProductIdentifierList(propertyList: whole)
    }
    #expect(error?.code == .invalidIdentifier)
    #expect(error?.place == "$[0]")
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  @Test func aDamagedBinaryPropertyListIsRefusedOrRead() throws {
    let bytes = Array(
      try PropertyListSerialization.data(fromPropertyList: ["a", "b", "é"], format: .binary, options: 0))
    for count in bytes.indices { _ = try? ProductIdentifierList(propertyList: Array(bytes[..<count])) }
    for index in bytes.indices {
      for change in UInt8(1)...255 {
        var damaged = bytes
        damaged[index] ^= change
        _ = try? ProductIdentifierList(propertyList: damaged)
      }
    }
  }

  @Test(arguments: [
    ("<array/>", []), ("<array></array>", []), ("<array><string>a</string></array>", ["a"]),
    ("<array><string>&lt;&amp;&gt;&quot;&apos;</string></array>", ["<&>\"'"]),
    ("<array><string>&#97;&#x62;&#x1F4B0;</string></array>", ["ab💰"]),
    ("<array><string>a<![CDATA[<&]]>b</string></array>", ["a<&b"]),
    ("<array><string> a </string></array>", [" a "]),
  ])
  func textIsDecodedAsXML(_ array: String, _ expected: [String]) throws {
    for prolog in ["", "<?xml version=\"1.0\"?>", "\u{FEFF}<?xml version=\"1.0\"?>\n<!-- -->", "\n "] {
      let text = "\(prolog)<plist version=\"1.0\">\(array)</plist>\n"
      #expect(try ProductIdentifierList(propertyList: Array(text.utf8)).identifiers == expected)
    }
  }

  @Test(
    arguments: [
      ("", .empty, "byte 0"), (" \n", .empty, "byte 0"), ("bplist00abc", .malformed, "byte 0"),
      ("hello", .malformed, "byte 0"), ("<html/>", .malformed, "byte 0"),
      ("<plist version=\"2.0\"><array/></plist>", .malformed, "byte 6"),
      ("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><array/></plist>", .malformed, nil),
      ("<plist><dict/></plist>", .wrongType, "$"), ("<plist><string>a</string></plist>", .wrongType, "$"),
      ("<plist><array><integer>1</integer></array></plist>", .wrongType, "$[0]"),
      ("<plist><array><string>a</string><array/></array></plist>", .wrongType, "$[1]"),
      ("<plist><array><string>a</string><true/></array></plist>", .wrongType, "$[1]"),
      ("<plist><array><string/></array></plist>", .invalidIdentifier, "$[0]"),
      ("<plist><array><string>a</string><string></string></array></plist>", .invalidIdentifier, "$[1]"),
      ("<plist><array><string>a\nb</string></array></plist>", .invalidIdentifier, "$[0]"),
      ("<plist><array><string>&nbsp;</string></array></plist>", .malformed, "$"),
      ("<plist><array><string>&#0;</string></array></plist>", .invalidIdentifier, "$[0]"),
      ("<plist><array><string>&#xD800;</string></array></plist>", .malformed, "$"),
      ("<plist><array><string>&#+97;</string></array></plist>", .malformed, "$"),
      ("<plist><array><string>a<b/></string></array></plist>", .malformed, "$"),
      ("<plist><array><string>a<!-- b --></string></array></plist>", .malformed, "$"),
      ("<plist><array>text</array></plist>", .malformed, "$"),
      ("<plist><array/></plist><plist/>", .malformed, "byte 0"),
      ("<plist><array/><array/></plist>", .malformed, "$"),
      ("( \"a\" )", .malformed, "byte 0"), ("(<plist>, <plist>)", .malformed, "byte 0"),
    ] as [(String, ProductIdentifierError.Code, String?)])
  func anythingElseIsRefusedWithItsPlace(
    _ text: String, _ code: ProductIdentifierError.Code, _ place: String?
  ) {
    let error = error(propertyList: text)
    #expect(error?.code == code)
    if let place { #expect(error?.place == place) }
  }

  /// Foundation reads XML recursively.
  @Test(arguments: ["<array>", "<dict><key>a</key>", "<array ><array\t>"])
  func nestingDoesNotOverflowTheStack(_ element: String) {
    for prolog in ["", "<?xml version=\"1.0\" encoding=\"UTF-16\"?>"] {
      let text = "\(prolog)<plist>" + String(repeating: element, count: 100_000)
      let error = error(propertyList: text)
      #expect(error?.code == .wrongType)
      #expect(error?.place == "$")
    }
  }

  @Test func theCauseOfASyntaxErrorIsNamed() {
    let error = error(propertyList: "<plist>\n<array>\n<string>&nbsp;</string>")
    #expect(error?.code == .malformed)
    #expect(error?.message.contains("ampersand") == true && error?.message.contains("line") == false)
  }

  @Test func aTruncatedPropertyListIsRefused() throws {
    let bytes = Array(Self.propertyList.utf8)
    let end = try #require(bytes.lastIndex(of: UInt8(ascii: ">")))
    for count in 0...end {
      let error = identifierError { () throws(ProductIdentifierError) in
        _ = try ProductIdentifierList(propertyList: Array(bytes[..<count]))
      }
      #expect(error?.code == .malformed || error?.code == .empty)
    }
    for index in bytes.indices {
      for change in [UInt8(1), 0x20, 0x80, 0xFF] {
        var damaged = bytes
        damaged[index] ^= change
        _ = try? ProductIdentifierList(propertyList: damaged)
      }
    }
  }

  @Test(
    arguments: [
      ("", .empty, nil), ("[", .malformed, nil), ("[\"a\",]", .malformed, nil),
      ("[\"a\"] x", .malformed, nil),
      ("{}", .wrongType, "$"), ("\"a\"", .wrongType, "$"), ("null", .wrongType, "$"),
      ("[1]", .wrongType, "$[0]"), ("[\"a\", null]", .wrongType, "$[1]"),
      ("[\"a\", [\"b\"]]", .wrongType, "$[1]"),
      ("[\"a\", \"\"]", .invalidIdentifier, "$[1]"), ("[\"a\\u0000\"]", .invalidIdentifier, "$[0]"),
      ("[[[[[[]]]]]]", .tooLarge, nil),
    ] as [(String, ProductIdentifierError.Code, String?)])
  func aJSONListIsReadStrictly(_ text: String, _ code: ProductIdentifierError.Code, _ place: String?) {
    let error = error(json: text)
    #expect(error?.code == code)
    if let place { #expect(error?.place == place) }
  }

  @Test func duplicatesAreReported() throws {
    let list = try ProductIdentifierList(json: Array(#"["b", "a", "b", "c", "b", "a"]"#.utf8))
    #expect(list.identifiers == ["b", "a", "c"])
    #expect(list.duplicates == ["b", "a"])
  }

  @Test func limitsHold() throws {
    let many =
      "[" + repeatElement("\"a\"", count: ProductIdentifierList.maximumCount + 1).joined(separator: ",") + "]"
    #expect(error(json: many)?.code == .tooLarge)
    let most = (0..<ProductIdentifierList.maximumCount).map { "\"\($0)\"" }.joined(separator: ",")
    #expect(try ProductIdentifierList(json: Array("[\(most)]".utf8)).identifiers.count == 100_000)
    let long = String(repeating: " ", count: ProductIdentifierList.maximumByteCount)
    #expect(error(json: "[]" + long)?.code == .tooLarge)
    #expect(error(propertyList: "<plist><array/></plist>" + long)?.code == .tooLarge)
    #expect(error(json: "[\"\(String(repeating: "a", count: 256))\"]")?.code == .invalidIdentifier)
    let elements = String(repeating: "<string>a</string>", count: 100_001)
    #expect(error(propertyList: "<plist><array>\(elements)</array></plist>")?.code == .tooLarge)
  }

  @Test func resourcesAreFoundByTheirName() throws {
    let folder = try ListFolder()
    var error = identifierError { () throws(ProductIdentifierError) in
      _ = try ProductIdentifierList(in: folder.url)
    }
    #expect(error?.code == .notFound)
    #expect(error?.place == folder.url.path)
    _ = try folder.write("[\"from.json\"]", to: "product_ids.json")
    #expect(try ProductIdentifierList(in: folder.url).identifiers == ["from.json"])
    // The property list comes first, as in the guide.
    _ = try folder.write(Self.propertyList, to: "product_ids.plist")
    #expect(try ProductIdentifierList(in: folder.url).identifiers.first == "com.example.coins")
    _ = try folder.write("[\"other\"]", to: "other.json")
    #expect(try ProductIdentifierList(resource: "other", in: folder.url).identifiers == ["other"])
    _ = try folder.write("<plist><array><true/></array></plist>", to: "product_ids.plist")
    error = identifierError { () throws(ProductIdentifierError) in
      _ = try ProductIdentifierList(in: folder.url)
    }
    #expect(error?.code == .wrongType)
    #expect(error?.place == "\(folder.url.appending(path: "product_ids.plist").path): $[0]")
  }

  @Test func onlyFilesAreRead() throws {
    let folder = try ListFolder()
    let directory = folder.url.appending(path: "a.json")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    var error = identifierError { () throws(ProductIdentifierError) in
      _ = try ProductIdentifierList(contentsOf: directory)
    }
    #expect(error?.code == .unreadable)
    error = identifierError { () throws(ProductIdentifierError) in
      _ = try ProductIdentifierList(contentsOf: URL(filePath: "/dev/zero"))
    }
    #expect(error?.code == .unreadable)
    error = identifierError { () throws(ProductIdentifierError) in
      _ = try ProductIdentifierList(contentsOf: folder.url.appending(path: "none"))
    }
    #expect(error?.code == .notFound)
    let target = try folder.write("[\"a\"]", to: "target.json")
    let link = folder.url.appending(path: "link.json")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
    #expect(try ProductIdentifierList(contentsOf: link).identifiers == ["a"])
    let large = folder.url.appending(path: "large.json")
    try Data(count: ProductIdentifierList.maximumByteCount + 1).write(to: large)
    error = identifierError { () throws(ProductIdentifierError) in
      _ = try ProductIdentifierList(contentsOf: large)
    }
    #expect(error?.code == .tooLarge)
  }
}
