// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes

@testable import ReceiptCodec

/// An app receipt in BER, as Xcode lays it out: indefinite lengths, the content in pieces.
enum IndefiniteLengths {
  static func encoding(_ der: [UInt8], pieceLength: Int = 300) throws -> [UInt8] {
    let signedData = try UnverifiedAppReceipt(parsing: der).signedData
    var content: [UInt8] = []
    var rest = signedData.content
    while !rest.isEmpty {
      content += definite(.octetString, Array(rest.prefix(pieceLength)))
      rest = rest.dropFirst(pieceLength)
    }
    let signer = try required(signedData.signerInfos.first)
    let identifier = Array(signer.issuer) + definite(.integer, Array(signer.serialNumber))
    let signerInfo =
      integer(1) + indefinite([0x30], identifier) + algorithm(signer.digestAlgorithm)
      + algorithm(signer.signatureAlgorithm) + definite(.octetString, Array(signer.signature))
    let encapsulated =
      identifierOctets("1.2.840.113549.1.7.1") + indefinite([0xA0], indefinite([0x24], content))
    let body =
      integer(1) + indefinite([0x31], algorithm(signer.digestAlgorithm)) + indefinite([0x30], encapsulated)
      + indefinite([0xA0], Array(signedData.certificatesBytes))
      + indefinite([0x31], indefinite([0x30], signerInfo))
    return indefinite(
      [0x30], identifierOctets("1.2.840.113549.1.7.2") + indefinite([0xA0], indefinite([0x30], body)))
  }

  private struct Missing: Error {}

  private static func required<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw Missing() }
    return value
  }

  private static func indefinite(_ tag: [UInt8], _ contents: [UInt8]) -> [UInt8] {
    tag + [0x80] + contents + [0, 0]
  }

  private static func definite(_ tag: ASN1Tag, _ contents: [UInt8]) -> [UInt8] {
    var writer = ASN1Writer()
    writer.write(tag, contents: contents)
    return writer.bytes
  }

  private static func integer(_ value: Int64) -> [UInt8] {
    var writer = ASN1Writer()
    writer.write(integer: value)
    return writer.bytes
  }

  private static func identifierOctets(_ dotted: String) -> [UInt8] {
    var writer = ASN1Writer()
    writer.writeIdentifier(dotted)
    return writer.bytes
  }

  private static func algorithm(_ dotted: String) -> [UInt8] {
    var writer = ASN1Writer()
    writer.writeAlgorithm(dotted)
    return writer.bytes
  }
}
