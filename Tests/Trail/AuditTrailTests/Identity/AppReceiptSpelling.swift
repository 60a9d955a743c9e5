// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec

/// One way to encode the container of an app receipt (RFC 5652 section 5.1) around the same signed content.
struct AppReceiptSpelling {
  /// The length of the segments of the content (X.690 section 8.7.3); `nil` for a primitive OCTET STRING.
  var segmentLength: Int?
  /// `true` if constructed values have indefinite lengths.
  var isIndefinite = false
  /// `true` if the algorithms have NULL parameters.
  var hasParameters = true
  /// Announced beside the signer's digest algorithm.
  var digestAlgorithms: [String] = []
  /// In place of those of the receipt.
  var certificates: [ArraySlice<UInt8>]?
  /// The value of an unsigned attribute.
  var unsignedAttribute: [UInt8]?

  /// At least 40 spellings.
  static func all(of receipt: [UInt8]) throws -> [[UInt8]] {
    let certificates = try UnverifiedAppReceipt(parsing: receipt).signedData.certificates
    var spellings: [AppReceiptSpelling] = []
    for length in 1...14 {
      spellings.append(AppReceiptSpelling(segmentLength: 7 * length))
      spellings.append(AppReceiptSpelling(segmentLength: 11 * length, isIndefinite: true))
    }
    for number in 0..<UInt8(8) {
      spellings.append(AppReceiptSpelling(isIndefinite: number > 3, unsignedAttribute: [number]))
    }
    for first in certificates.indices {
      var others = certificates
      others.append(others.remove(at: first))
      spellings.append(AppReceiptSpelling(isIndefinite: true, certificates: others))
      spellings.append(AppReceiptSpelling(certificates: certificates + [certificates[first]]))
    }
    spellings.append(AppReceiptSpelling(certificates: certificates.reversed()))
    spellings.append(AppReceiptSpelling(certificates: certificates.dropLast()))
    spellings.append(AppReceiptSpelling(hasParameters: false))
    spellings.append(
      AppReceiptSpelling(digestAlgorithms: [ObjectIdentifiers.sha1, ObjectIdentifiers.sha256]))
    return try spellings.map { try $0.encode(receipt) }
  }

  func encode(_ receipt: [UInt8]) throws -> [UInt8] {
    let signedData = try UnverifiedAppReceipt(parsing: receipt).signedData
    let explicit = ASN1Tag.contextSpecificConstructed(0)
    let certificates = self.certificates ?? signedData.certificates
    let algorithms = (signedData.digestAlgorithms + digestAlgorithms).flatMap(algorithm)
    let encapsulated = identifier("1.2.840.113549.1.7.1") + constructed(explicit, content(signedData.content))
    let body =
      integer(signedData.version) + constructed(.set, algorithms) + constructed(.sequence, encapsulated)
      + constructed(explicit, certificates.flatMap { $0 })
      + constructed(.set, signedData.signerInfos.flatMap(signer))
    return constructed(
      .sequence, identifier("1.2.840.113549.1.7.2") + constructed(explicit, constructed(.sequence, body)))
  }

  private func content(_ content: ArraySlice<UInt8>) -> [UInt8] {
    guard let segmentLength else { return primitive(.octetString, content) }
    var segments: [UInt8] = []
    var rest = content
    while !rest.isEmpty {
      segments += primitive(.octetString, rest.prefix(segmentLength))
      rest = rest.dropFirst(segmentLength)
    }
    return constructed(.constructedOctetString, segments)
  }

  private func signer(_ signer: CMSSignerInfo) -> [UInt8] {
    let name = Array(signer.issuer) + primitive(.integer, signer.serialNumber)
    var info = integer(signer.version) + constructed(.sequence, name) + algorithm(signer.digestAlgorithm)
    if let attributes = signer.signedAttributes { info += [0xA0] + attributes.encoded.dropFirst() }
    info += algorithm(signer.signatureAlgorithm) + primitive(.octetString, signer.signature)
    if let unsignedAttribute {
      let value = primitive(.octetString, unsignedAttribute)
      let attribute = constructed(.sequence, identifier("1.2.840.113549.1.9.2") + constructed(.set, value))
      info += constructed(.contextSpecificConstructed(1), attribute)
    }
    return constructed(.sequence, info)
  }

  private func algorithm(_ dotted: String) -> [UInt8] {
    constructed(.sequence, identifier(dotted) + (hasParameters ? [0x05, 0x00] : []))
  }

  private func constructed(_ tag: ASN1Tag, _ contents: [UInt8]) -> [UInt8] {
    isIndefinite ? tag.octets + [0x80] + contents + [0, 0] : primitive(tag, contents)
  }

  private func primitive(_ tag: ASN1Tag, _ contents: some Collection<UInt8>) -> [UInt8] {
    var writer = ASN1Writer()
    writer.write(tag, contents: contents)
    return writer.bytes
  }

  private func integer(_ value: Int) -> [UInt8] {
    var writer = ASN1Writer()
    writer.write(integer: Int64(value))
    return writer.bytes
  }

  private func identifier(_ dotted: String) -> [UInt8] {
    var writer = ASN1Writer()
    if let identifier = ObjectIdentifier(dotted) { writer.write(identifier) }
    return writer.bytes
  }
}
