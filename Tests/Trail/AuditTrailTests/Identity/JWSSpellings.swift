// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec

/// Other spellings of a JWS.
enum JWSSpellings {
  /// n, the order of the base point of P-256 (FIPS 186-5; SEC 2 section 2.4.2).
  private static let order: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]

  /// With the signature (r, n − s) in place of (r, s): as valid.
  static func negated(_ jws: [UInt8]) throws -> [UInt8] {
    let parsed = try UnverifiedJWS(parsing: jws)
    return spelled(
      parsed, Array(parsed.signature.prefix(32)) + difference(order, parsed.signature.suffix(32)))
  }

  /// Spellings that a strict verifier refuses. If one were accepted, it would be the same receipt.
  static func doubtful(_ jws: [UInt8]) throws -> [[UInt8]] {
    let parsed = try UnverifiedJWS(parsing: jws)
    let (r, s) = (Array(parsed.signature.prefix(32)), Array(parsed.signature.suffix(32)))
    let last = jws.count - 1
    var unusedBit = jws
    // 64 bytes leave four bits of the last symbol unused.
    unusedBit[last] = unusedBit[last] == UInt8(ascii: "A") ? UInt8(ascii: "B") : unusedBit[last] + 1
    var der = ASN1Writer()
    der.write(.sequence) { sequence in
      for number in [r, s] { sequence.write(.integer, contents: [0] + number) }
    }
    return [
      spelled(parsed, [0] + r + [0] + s), spelled(parsed, r + s + [0]), spelled(parsed, der.bytes),
      spelled(parsed, r + [UInt8](repeating: 0, count: 32)), jws + Array("==".utf8), jws + Array(".".utf8),
      unusedBit,
    ]
  }

  private static func spelled(_ jws: UnverifiedJWS, _ signature: [UInt8]) -> [UInt8] {
    jws.compact[jws.signingInputRange] + [UInt8(ascii: ".")] + Base64URL.encode(signature)
  }

  private static func difference(_ left: [UInt8], _ right: some BidirectionalCollection<UInt8>) -> [UInt8] {
    var digits: [UInt8] = []
    var borrow = 0
    for (left, right) in zip(left.reversed(), right.reversed()) {
      let difference = Int(left) - Int(right) - borrow
      borrow = difference < 0 ? 1 : 0
      digits.append(UInt8(truncatingIfNeeded: difference))
    }
    return digits.reversed()
  }
}
