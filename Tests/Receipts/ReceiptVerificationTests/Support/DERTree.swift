// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes

@testable import ReceiptCodec

/// A DER value taken apart, so that a test can change a part of it and put it together again.
struct DERTree {
  let tag: UInt8
  var content: [UInt8]
  var children: [DERTree] = []
  /// Written as it is, instead of a header and the content.
  var raw: [UInt8]?

  init(_ tag: UInt8, _ content: [UInt8] = [], children: [DERTree] = [], raw: [UInt8]? = nil) {
    (self.tag, self.content, self.children, self.raw) = (tag, content, children, raw)
  }

  init(parsing der: [UInt8]) throws {
    var reader = ReceiptASN1Reader(0..<der.count, part: "test value")
    let header = try reader.readHeader(der.span)
    tag = der[0]
    content = Array(der[reader.position...])
    guard header.tag.isConstructed else { return }
    while try !reader.isAtEnd(der.span) {
      children.append(try DERTree(parsing: Array(der[try reader.skip(der.span)])))
    }
    content = []
  }

  var encoded: [UInt8] {
    if let raw { return raw }
    var writer = ASN1Writer()
    writer.write(ASN1Tag(shortForm: tag), contents: body)
    return writer.bytes
  }

  private var body: [UInt8] { content + children.flatMap(\.encoded) }

  var headerLength: Int { encoded.count - body.count }

  /// Returns the offset of the value at the end of a path of child indices.
  func offset(of path: ArraySlice<Int>) -> Int {
    guard let index = path.first else { return 0 }
    let before = children[..<index].reduce(0) { $0 + $1.encoded.count }
    return headerLength + before + children[index].offset(of: path.dropFirst())
  }
}
