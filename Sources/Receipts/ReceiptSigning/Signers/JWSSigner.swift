// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
internal import ReceiptCrypto

/// Signs transactions, renewal infos, app transactions, notifications and realtime requests as the App Store does.
///
/// The result is a compact JWS (RFC 7515) with ES256 (RFC 7518 section 3.4) whose header carries leaf, intermediate and
/// root in `x5c`.
///
/// ```swift
/// let signer = try JWSSigner(identity: identity)
/// let receipt = try signer.sign(.transaction(transaction))
/// ```
///
/// Keep the signer: it encodes the header once.
public struct JWSSigner: Sendable {
  package let identity: SigningIdentity

  /// The header in base64url, with the dot after it.
  private let prefix: [UInt8]

  /// Creates a signer.
  ///
  /// - Throws: ``SigningError`` with `unsuitable-key` unless the key is on P-256, or `chain-length` unless the
  ///   chain has three certificates.
  public init(identity: SigningIdentity) throws(SigningError) {
    guard identity.privateKey.publicKey.kind == .p256 else {
      throw SigningError(
        .unsuitableKey,
        "A JWS is signed with ES256, by a key on P-256, and this identity's key is of the kind "
          + "\(identity.privateKey.publicKey.kind). Create one with: receipt-tool identity create "
          + "--algorithm es256")
    }
    guard identity.chain.count == 3 else {
      throw SigningError(
        .chainLength,
        "A JWS carries leaf, intermediate and root, and this identity's chain has "
          + "\(identity.chain.count) certificate(s).")
    }
    self.init(unchecked: identity, header: JWSHeader(x5c: identity.chain.map(\.der)).encoded())
  }

  /// Creates a signer with any header, to produce a JWS that verifiers must refuse.
  package init(unchecked identity: SigningIdentity, header: [UInt8]) {
    self.identity = identity
    self.prefix = Base64URL.encode(header) + [UInt8(ascii: ".")]
  }

  /// Signs a payload.
  ///
  /// - Returns: The compact JWS.
  /// - Throws: ``SigningError`` with `crypto-failure`.
  public func sign(_ payload: JWSPayload) throws(SigningError) -> String {
    String(decoding: try sign(encodedPayload: payload.encoded()), as: UTF8.self)
  }

  /// Signs a payload that is already encoded; its bytes are signed unchanged.
  package func sign(encodedPayload payload: [UInt8]) throws(SigningError) -> [UInt8] {
    var jws = prefix
    jws.reserveCapacity(prefix.count + payload.count / 3 * 4 + 96)
    jws += Base64URL.encode(payload)
    let signature = try identity.privateKey.sign(jws, using: .ecdsaP256SHA256)
    jws.append(UInt8(ascii: "."))
    jws += Base64URL.encode(signature)
    return jws
  }
}
