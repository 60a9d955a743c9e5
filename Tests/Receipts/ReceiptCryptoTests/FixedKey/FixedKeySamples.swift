// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCrypto

/// A signature, good or not, with the message that it is said to be of.
struct FixedKeySample {
  /// The change that was made to a genuine signature.
  enum Change: CaseIterable {
    case nothing, otherMessage, lowBitOfR, highBitOfR, lowBitOfS, highBitOfS, anyBit, edgeR, edgeS, edges
    case swapped
    /// s → n − s: valid too, as (r, s) and (r, −s) belong to the same coordinate.
    case negatedS
  }

  var message: [UInt8]
  var signature: [UInt8]
  var digest: [UInt8] { Digest.hash(message, using: .sha256) }

  static let order = SignatureTests.order

  /// 0, 1, n − 1, n, n + 1 and 2^256 − 1.
  static let edges: [[UInt8]] = [
    [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 31) + [1],
    order.dropLast() + [0x50], order, order.dropLast() + [0x52], [UInt8](repeating: 0xFF, count: 32),
  ]

  /// Signs a random message and makes the change.
  init(
    signedBy key: PrivateKey, changed change: Change, using generator: inout some RandomNumberGenerator
  ) throws {
    message = (0..<8).map { _ in UInt8.random(in: 0...255, using: &generator) }
    signature = try key.signature(for: message, using: .ecdsaP256SHA256)
    let bit = Int.random(in: 0..<16, using: &generator)
    switch change {
    case .nothing: break
    case .otherMessage: message[bit / 8] ^= 1 << UInt8(bit % 8)
    case .lowBitOfR: signature[31 - bit / 8] ^= 1 << UInt8(bit % 8)
    case .highBitOfR: signature[bit / 8] ^= 1 << UInt8(bit % 8)
    case .lowBitOfS: signature[63 - bit / 8] ^= 1 << UInt8(bit % 8)
    case .highBitOfS: signature[32 + bit / 8] ^= 1 << UInt8(bit % 8)
    case .anyBit: signature[Int.random(in: 0..<64, using: &generator)] ^= 1 << UInt8(bit % 8)
    case .edgeR: signature.replaceSubrange(..<32, with: Self.edges[bit % 6])
    case .edgeS: signature.replaceSubrange(32..., with: Self.edges[bit % 6])
    case .edges: signature = Self.edges[bit % 6] + Self.edges[Int.random(in: 0..<6, using: &generator)]
    case .swapped: signature = Array(signature[32...] + signature[..<32])
    case .negatedS: signature.replaceSubrange(32..., with: Self.orderLess(signature[32...]))
    }
  }

  /// n − s
  private static func orderLess(_ s: ArraySlice<UInt8>) -> [UInt8] {
    var difference = order
    var borrow = 0
    for (index, byte) in zip(0..<32, s).reversed() {
      let value = Int(difference[index]) - Int(byte) - borrow
      borrow = value < 0 ? 1 : 0
      difference[index] = UInt8(value & 0xFF)
    }
    return difference
  }

  /// The signature as DER, for OpenSSL's high-level call.
  var derSignature: [UInt8] {
    let content = Self.derInteger(signature[..<32]) + Self.derInteger(signature[32...])
    return [0x30, UInt8(content.count)] + content
  }

  private static func derInteger(_ value: ArraySlice<UInt8>) -> [UInt8] {
    var content = Array(value.drop { $0 == 0 })
    if content.isEmpty || content[0] >= 0x80 { content.insert(0, at: 0) }
    return [0x02, UInt8(content.count)] + content
  }
}

/// With arrays, as `#expect` cannot take spans.
extension FixedKeyVerifier {
  func isValid(_ signature: [UInt8], forDigest digest: [UInt8]) throws(CryptoError) -> Bool {
    try isValid(signature.span, forDigest: digest.span)
  }

  func isValid(_ sample: FixedKeySample) throws(CryptoError) -> Bool {
    try isValid(sample.signature, forDigest: sample.digest)
  }

  func validities(signatures: [UInt8], digests: [UInt8], count: Int) throws(CryptoError) -> [Bool] {
    try validities(signatures: signatures.span, digests: digests.span, count: count)
  }

  func validities(_ samples: some Collection<FixedKeySample>) throws(CryptoError) -> [Bool] {
    try validities(
      signatures: samples.flatMap(\.signature), digests: samples.flatMap(\.digest), count: samples.count)
  }
}

/// Sweeps that take minutes, for when the verifier itself was changed.
enum FullSweeps {
  static let areWanted = ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] != nil
}
