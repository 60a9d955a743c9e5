// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto

/// A parsed OCSP request (RFC 6960 section 4.1.1).
package struct ReceivedOCSPRequest: Sendable {
  /// The nonce, if any.
  package private(set) var nonce: [UInt8]?
  /// The requested CertIDs.
  private var identifiers: [[UInt8]] = []

  /// Reads a request.
  ///
  /// - Throws: `OCSPError` with `malformed-request`.
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
          guard ObjectIdentifier(contents: oid.contents) == ObjectIdentifier(OCSPIdentifiers.nonce) else {
            continue
          }
          nonce = DERSequence.contents(of: .octetString, in: value.contents).map(Array.init)
        }
      default: break
      }
    }
    guard !identifiers.isEmpty else { throw Self.malformed }
  }

  /// Whether the request is for this certificate only.
  package func asks(about certificate: Certificate, issuer: Certificate) -> Bool {
    DigestAlgorithm.allCases.contains { hash in
      identifiers == [ASN1Writer.encoding { $0.write(identifierOf: certificate, issuer, hash) }]
    }
  }

  private typealias Element = (tag: ASN1Tag, encoded: [UInt8], contents: [UInt8])

  /// The elements of a SEQUENCE.
  private static func elements(of der: [UInt8]) throws(OCSPError) -> [Element] {
    guard let elements = DERSequence.elements(of: der) else { throw malformed }
    return elements.map { ($0.tag, Array(der[$0.encoded]), Array(der[$0.contents])) }
  }

  private static let malformed = OCSPError(.malformedRequest, "This is not an OCSP request in DER.")
}
