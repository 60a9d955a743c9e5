// SPDX-License-Identifier: Apache-2.0

/// The permitted uses of a certificate's key: the keyUsage extension (RFC 5280 section 4.2.1.3). Bit `n` of the BIT
/// STRING is the value `1 << n`.
package struct KeyUsage: OptionSet, Sendable, Hashable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Signing data other than certificates and revocation lists.
  package static let digitalSignature = KeyUsage(rawValue: 1 << 0)
  /// Signing data that the signer must not be able to repudiate (contentCommitment).
  package static let nonRepudiation = KeyUsage(rawValue: 1 << 1)
  package static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
  package static let dataEncipherment = KeyUsage(rawValue: 1 << 3)
  package static let keyAgreement = KeyUsage(rawValue: 1 << 4)
  package static let keyCertSign = KeyUsage(rawValue: 1 << 5)
  package static let cRLSign = KeyUsage(rawValue: 1 << 6)
  /// Key agreement, for encryption only.
  package static let encipherOnly = KeyUsage(rawValue: 1 << 7)
  /// Key agreement, for decryption only.
  package static let decipherOnly = KeyUsage(rawValue: 1 << 8)

  /// Creates a set from OpenSSL's layout. The low byte is the first octet of the BIT STRING, and the octet's first bit
  /// is its highest.
  init(openSSL bits: UInt32) {
    var value: UInt16 = 0
    for bit in 0..<8 where bits & (0x80 >> UInt32(bit)) != 0 { value |= 1 << UInt16(bit) }
    if bits & 0x8000 != 0 { value |= 1 << 8 }
    self.init(rawValue: value)
  }
}
