// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import Testing

/// Something that RFC 5280 or DER forbids in a certificate, and OpenSSL reads without a word.
struct CertificateFlaw: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Spoils a tbsCertificate with this marker extension. Returns which element is wrong, by child indices, and how
  /// many bytes after its beginning.
  let spoil: @Sendable (_ tbs: inout DERTree, _ marker: String) throws -> (path: [Int], plus: Int)

  init(
    _ description: String,
    _ spoil: @escaping @Sendable (_ tbs: inout DERTree, _ marker: String) throws -> ([Int], Int)
  ) {
    testDescription = description
    self.spoil = { tbs, marker in
      let (path, plus) = try spoil(&tbs, marker)
      return (path: path, plus: plus)
    }
  }

  static let all = versions + times + extensions + encodings

  // Fields of a tbsCertificate of version 3, by position.
  private static let (validity, subject, extensionsField) = (4, 5, 7)

  private static let versions = [
    version("version 1, written out", [0]), version("version 4", [3]), version("version -1", [0xFF]),
    version("version 259, whose low byte is that of version 3", [1, 2]),
    CertificateFlaw("extensions in version 1") { tbs, _ in
      tbs.children.removeFirst()
      return ([extensionsField - 1], 0)
    },
    CertificateFlaw("extensions in version 2") { tbs, _ in
      tbs.children[0].children[0].content = [1]
      return ([extensionsField], 0)
    },
    CertificateFlaw("a unique identifier in version 1") { tbs, _ in
      tbs.children.removeFirst()
      tbs.children[extensionsField - 1] = DERTree(0x81, [0, 1])
      return ([extensionsField - 1], 0)
    },
  ]

  private static func version(_ description: String, _ content: [UInt8]) -> CertificateFlaw {
    CertificateFlaw(description) { tbs, _ in
      tbs.children[0].children[0].content = content
      return ([0, 0], 0)
    }
  }

  private static let times =
    [
      time("without seconds", 0x17, "4912312359Z"), time("with an offset", 0x17, "491231235959+0000"),
      time("without seconds, with an offset", 0x17, "4912312359+0000"),
      time("with a fraction of a second", 0x18, "20501231235959.5Z"),
      time("with an offset and four digits of the year", 0x18, "20501231235959+0000"),
      time("as GeneralizedTime before 2050", 0x18, "20491231235959Z"),
    ] + [
      CertificateFlaw("notBefore without seconds") { tbs, _ in
        tbs.children[validity].children[0] = DERTree(0x17, Array("2001010000Z".utf8))
        return ([validity, 0], 0)
      }
    ]

  private static func time(_ description: String, _ tag: UInt8, _ text: String) -> CertificateFlaw {
    CertificateFlaw("notAfter \(description)") { tbs, _ in
      tbs.children[validity].children[1] = DERTree(tag, Array(text.utf8))
      return ([validity, 1], 0)
    }
  }

  private static let (basicConstraints, keyUsage) = ("2.5.29.19", "2.5.29.15")

  private static let extensions =
    [
      twice("the marker twice") { $0 }, twice("basicConstraints twice") { _ in basicConstraints },
      twice("extendedKeyUsage twice") { _ in "2.5.29.37" },
      trailing("basicConstraints") { _ in basicConstraints }, trailing("keyUsage") { _ in keyUsage },
      trailing("extendedKeyUsage") { _ in "2.5.29.37" },
      trailing("subjectKeyIdentifier") { _ in "2.5.29.14" },
      trailing("authorityKeyIdentifier") { _ in "2.5.29.35" }, trailing("the marker") { $0 },
      CertificateFlaw("no extension in the list") { tbs, _ in
        tbs.children[extensionsField].children[0].children = []
        return ([extensionsField, 0], 2)
      },
      CertificateFlaw("criticality FALSE, written out") { tbs, marker in
        let place = try place(of: marker, in: tbs)
        change(place, in: &tbs) { $0.children.insert(DERTree(0x01, [0]), at: 1) }
        return (place + [1], 0)
      },
      CertificateFlaw("cA FALSE, written out") { tbs, _ in
        try value(of: basicConstraints, in: &tbs, [0x30, 3, 1, 1, 0], plus: 2)
      },
    ]

  private static func twice(
    _ description: String, _ oid: @escaping @Sendable (_ marker: String) -> String
  ) -> CertificateFlaw {
    CertificateFlaw(description) { tbs, marker in
      let list = tbs.children[extensionsField].children[0].children
      let index = try #require(try place(of: oid(marker), in: tbs).last)
      tbs.children[extensionsField].children[0].children.append(list[index])
      return ([extensionsField, 0, list.count], 0)
    }
  }

  private static func trailing(
    _ description: String, _ oid: @escaping @Sendable (_ marker: String) -> String
  ) -> CertificateFlaw {
    CertificateFlaw("bytes after the value of \(description)") { tbs, marker in
      let place = try place(of: oid(marker), in: tbs)
      var length = 0
      change(place, in: &tbs) {
        length = $0.children[$0.children.count - 1].content.count
        $0.children[$0.children.count - 1].content += [5, 0]
      }
      return (place + [fieldCount(of: place, in: tbs) - 1], 2 + length)
    }
  }

  private static let encodings = [
    CertificateFlaw("TRUE as 01") { tbs, _ in
      let place = try place(of: basicConstraints, in: tbs)
      change(place, in: &tbs) { $0.children[1].content = [1] }
      return (place + [1], 0)
    },
    CertificateFlaw("an extension's OCTET STRING in pieces") { tbs, marker in
      let place = try place(of: marker, in: tbs)
      change(place, in: &tbs) { $0.children[1] = DERTree(0x24, children: [$0.children[1]]) }
      return (place + [1], 0)
    },
    CertificateFlaw("a length of two bytes where one suffices") { tbs, marker in
      let place = try place(of: marker, in: tbs)
      change(place, in: &tbs) { $0.children[1].raw = [4, 0x81, 2, 5, 0] }
      return (place + [1], 0)
    },
    CertificateFlaw("such a length inside an extension") { tbs, _ in
      try value(of: basicConstraints, in: &tbs, [0x30, 0x81, 3, 1, 1, 0xFF], plus: 0)
    },
    CertificateFlaw("unused bits that are not zero") { tbs, _ in
      try value(of: keyUsage, in: &tbs, [3, 2, 1, 0xFF], plus: 0)
    },
    CertificateFlaw("a SET OF out of order") { tbs, _ in
      let attributes = tbs.children[subject].children.flatMap(\.children)
      let descending = attributes.sorted { $1.encoded.lexicographicallyPrecedes($0.encoded) }
      tbs.children[subject].children = [DERTree(0x31, children: descending)]
      return ([subject, 0, 1], 0)
    },
  ]

  // MARK: - Extensions

  private static func place(of oid: String, in tbs: DERTree) throws -> [Int] {
    let identifier = ObjectIdentifier(oid)
    let contents = try #require(identifier).contents
    let list = tbs.children[extensionsField].children[0].children
    let index = try #require(list.firstIndex { $0.children[0].content[...] == contents[...] })
    return [extensionsField, 0, index]
  }

  private static func change(_ place: [Int], in tbs: inout DERTree, _ body: (inout DERTree) -> Void) {
    body(&tbs.children[place[0]].children[place[1]].children[place[2]])
  }

  private static func fieldCount(of place: [Int], in tbs: DERTree) -> Int {
    tbs.children[place[0]].children[place[1]].children[place[2]].children.count
  }

  private static func value(
    of oid: String, in tbs: inout DERTree, _ bytes: [UInt8], plus: Int
  ) throws -> ([Int], Int) {
    let place = try place(of: oid, in: tbs)
    change(place, in: &tbs) { $0.children[$0.children.count - 1].content = bytes }
    return (place + [fieldCount(of: place, in: tbs) - 1], 2 + plus)
  }
}
