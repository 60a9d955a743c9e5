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
enum NamedCurve: CaseIterable {
  case p256, p384, p521

  init?(subjectPublicKeyInfo: [UInt8]) {
    guard let elements = DERSequence.elements(of: subjectPublicKeyInfo),
      elements.map(\.tag) == [.sequence, .bitString],
      let curve = Self.allCases.first(where: {
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

  var kind: PublicKey.Kind {
    switch self {
    case .p256: .p256
    case .p384: .p384
    case .p521: .p521
    }
  }

  private var fieldByteCount: Int {
    switch self {
    case .p256: 32
    case .p384: 48
    case .p521: 66
    }
  }

  /// The contents of the AlgorithmIdentifier: id-ecPublicKey (1.2.840.10045.2.1) and the curve's identifier.
  private var algorithm: [UInt8] {
    let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    return switch self {
    case .p256: ecPublicKey + [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    case .p384: ecPublicKey + [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
    case .p521: ecPublicKey + [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
    }
  }
}
