// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto

/// A parsed OCSP request (RFC 6960 section 4.1.1).
package struct ReceivedOCSPRequest: Sendable {
  package private(set) var nonce: [UInt8]?
  /// The requested CertIDs, in DER; at least one.
  package private(set) var identifiers: [[UInt8]] = []

  private static let mostIdentifiers = 64

  /// Reads a request, signed or not.
  package init(der: [UInt8]) throws(OCSPError) {
    guard let request = try Self.elements(of: der).first else { throw Self.malformed }
    for part in try Self.elements(of: request.encoded) {
      switch part.tag {
      case ASN1Tag.sequence:
        for element in try Self.elements(of: part.encoded) {
          guard let identifier = try Self.elements(of: element.encoded).first else { throw Self.malformed }
          identifiers.append(identifier.encoded)
        }
      case ASN1Tag.contextSpecificConstructed(2):
        for each in try Self.elements(of: part.contents) {
          let fields = try Self.elements(of: each.encoded)
          guard let oid = fields.first, let value = fields.last else { throw Self.malformed }
          guard ObjectIdentifier(contents: oid.contents) == ObjectIdentifier(ObjectIdentifiers.ocspNonce)
          else {
            continue
          }
          nonce = DERSequence.contents(of: .octetString, in: value.contents).map(Array.init)
        }
      default: break
      }
    }
    guard 1...Self.mostIdentifiers ~= identifiers.count else { throw Self.malformed }
  }

  /// Returns `true` if the request is about this certificate, alone or with others.
  package func asks(about certificate: Certificate, issuer: Certificate) -> Bool {
    identifiers.contains { Self.identifier($0, names: certificate, issuer: issuer) }
  }

  /// Returns `true` if a CertID is this certificate's, with any hash algorithm.
  package static func identifier(
    _ identifier: [UInt8], names certificate: Certificate, issuer: Certificate
  ) -> Bool {
    guard let fields = fields(of: identifier) else { return false }
    return DigestAlgorithm.allCases.contains { hash in
      Self.fields(of: ASN1Writer.encoding { $0.write(identifierOf: certificate, issuer, hash) }) == fields
    }
  }

  /// Returns the serial number in a CertID of this issuer, with any hash algorithm; `nil` for a CertID of another one.
  static func serialNumber(in identifier: [UInt8], issuer: Certificate) -> [UInt8]? {
    guard let fields = try? elements(of: identifier), fields.count == 4, fields[3].tag == .integer else {
      return nil
    }
    let serialNumber = fields[3].contents
    let isOurs = DigestAlgorithm.allCases.contains { hash in
      let expected = ASN1Writer.encoding {
        $0.write(identifierOf: serialNumber, issuerDER: issuer.subjectDER, issuer.publicKey, hash)
      }
      return Self.fields(of: expected) == Self.fields(of: identifier)
    }
    return isOurs ? serialNumber : nil
  }

  /// The fields of a CertID (RFC 6960 section 4.1.1). The algorithm is without its parameters, because NULL is
  /// optional.
  private static func fields(of identifier: [UInt8]) -> [[UInt8]]? {
    guard let fields = try? elements(of: identifier), fields.count == 4,
      let algorithm = try? elements(of: fields[0].encoded).first
    else { return nil }
    return [algorithm.encoded] + fields.dropFirst().map(\.encoded)
  }

  private typealias Element = (tag: ASN1Tag, encoded: [UInt8], contents: [UInt8])

  /// The elements of a SEQUENCE.
  private static func elements(of der: [UInt8]) throws(OCSPError) -> [Element] {
    guard let elements = DERSequence.elements(of: der) else { throw malformed }
    return elements.map { ($0.tag, Array(der[$0.encoded]), Array(der[$0.contents])) }
  }

  private static let malformed = OCSPError(.malformedRequest, "This is not an OCSP request in DER.")
}
