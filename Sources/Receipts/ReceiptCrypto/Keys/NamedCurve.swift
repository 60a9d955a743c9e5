// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A supported curve of RFC 5480, recognized by the bytes of a SubjectPublicKeyInfo.
///
///     SubjectPublicKeyInfo ::= SEQUENCE {
///       algorithm         SEQUENCE { id-ecPublicKey, namedCurve OBJECT IDENTIFIER },
///       subjectPublicKey  BIT STRING }   -- 04 ‖ x ‖ y, or 02 or 03 ‖ x
///
/// Curves given by explicit parameters (the vulnerability CVE-2020-0601), the point at infinity and the hybrid form of
/// points do not match.
struct NamedCurve: Sendable {
  let kind: PublicKey.Kind
  private let fieldByteCount: Int
  /// The contents of the AlgorithmIdentifier: id-ecPublicKey (1.2.840.10045.2.1) and the curve's identifier.
  private let algorithm: [UInt8]

  private init(_ kind: PublicKey.Kind, fieldByteCount: Int, identifier: [UInt8]) {
    self.kind = kind
    self.fieldByteCount = fieldByteCount
    algorithm = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01] + identifier
  }

  private static let all = [
    NamedCurve(
      .p256, fieldByteCount: 32, identifier: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]),
    NamedCurve(.p384, fieldByteCount: 48, identifier: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]),
    NamedCurve(.p521, fieldByteCount: 66, identifier: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]),
  ]

  init?(subjectPublicKeyInfo: [UInt8]) {
    guard let elements = DERSequence.elements(of: subjectPublicKeyInfo),
      elements.map(\.tag) == [.sequence, .bitString],
      let curve = Self.all.first(where: {
        $0.algorithm.elementsEqual(subjectPublicKeyInfo[elements[0].contents])
      })
    else { return nil }
    let octets = subjectPublicKeyInfo[elements[1].contents]
    guard octets.count >= 2, octets[octets.startIndex] == 0 else { return nil }
    switch octets[octets.startIndex + 1] {
    case 0x04 where octets.count == 2 + 2 * curve.fieldByteCount: break
    case 0x02, 0x03:
      guard octets.count == 2 + curve.fieldByteCount else { return nil }
    default: return nil
    }
    self = curve
  }
}
