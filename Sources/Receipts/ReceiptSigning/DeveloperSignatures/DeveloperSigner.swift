// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptCrypto

/// Creates the signatures that a developer sends to the App Store: offers, Advanced Commerce requests, tokens of the
/// App Store Server API.
///
/// The key comes from App Store Connect (a `.p8` file, P-256 in PKCS#8).
///
/// ```swift
/// let key = try PrivateKey(pem: contentsOfP8File)
/// let signer = try DeveloperSigner(
///   privateKey: key, keyId: "2X9R4HXF34", issuerId: "57246542-96fe-1a63-e053-0824d011072a",
///   bundleId: "com.example.app")
/// let token = try signer.serverToken(issuedAt: now)
/// ```
///
/// The caller passes times and nonces. The key is never printed.
public struct DeveloperSigner: Sendable {
  /// The key's identifier in App Store Connect.
  package let keyId: String
  /// The issuer's identifier in App Store Connect, a UUID.
  package let issuerId: String
  package let bundleId: String

  let privateKey: PrivateKey

  /// Creates a signer.
  ///
  /// - Throws: ``SigningError`` with `unsuitable-key` unless the key is on P-256.
  public init(
    privateKey: PrivateKey, keyId: String, issuerId: String, bundleId: String
  ) throws(SigningError) {
    guard privateKey.publicKey.kind == .p256 else {
      throw SigningError(
        .unsuitableKey,
        "Keys of App Store Connect are on P-256, and this one is of the kind \(privateKey.publicKey.kind).")
    }
    self.privateKey = privateKey
    self.keyId = keyId
    self.issuerId = issuerId
    self.bundleId = bundleId
  }

  /// Returns a new nonce: a random UUID (RFC 9562 version 4) in lower case, to be used once.
  public static func randomNonce() -> UUIDString {
    var bytes = Random.bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return UUIDString(bytes: bytes)
  }

  /// Returns a compact JWS over the claims that the closure writes, with alg, kid and typ in its header.
  func token(_ writeClaims: (inout JSONWriter) -> Void) throws(SigningError) -> String {
    let signer = JWSSigner(
      unchecked: SigningIdentity(appKey: privateKey), header: JWSHeader(kid: keyId, typ: "JWT").encoded())
    var claims = JSONWriter()
    claims.object(writeClaims)
    return String(decoding: try signer.sign(encodedPayload: claims.bytes), as: UTF8.self)
  }

  /// Returns a JWS that an app passes to StoreKit: the common claims, then those that the closure writes.
  func deviceToken(
    audience: String, nonce: UUIDString, issuedAt: Timestamp, _ writeClaims: (inout JSONWriter) -> Void
  ) throws(SigningError) -> String {
    let nonce = try Self.canonical(nonce)
    let issuedAt = try Self.seconds(issuedAt)
    return try token { claims in
      claims.member("nonce", nonce)
      claims.member("iss", issuerId)
      claims.member("bid", bundleId)
      claims.member("aud", audience)
      claims.member("iat", issuedAt)
      writeClaims(&claims)
    }
  }

  /// Returns the instant in whole seconds since 1970, as tokens require.
  static func seconds(_ instant: Timestamp) throws(SigningError) -> Int64 {
    guard abs(instant.millisecondsSince1970) <= Timestamp.greatestMagnitude else {
      throw SigningError(.invalidValue, at: "issuedAt", "The time is out of range.")
    }
    return Int64((instant.millisecondsSince1970 / 1000).rounded(.down))
  }

  /// Returns the lower-case spelling of a UUID.
  static func canonical(_ nonce: UUIDString) throws(SigningError) -> String {
    guard let nonce = nonce.canonical else {
      throw SigningError(.invalidValue, at: "nonce", "The nonce must be a UUID.")
    }
    return nonce.rawValue
  }
}

extension DeveloperSigner: CustomStringConvertible, CustomReflectable {
  /// The identifiers, without the key.
  public var description: String {
    "DeveloperSigner(key \(keyId), issuer \(issuerId), bundle \(bundleId))"
  }

  /// The identifiers, without the key.
  public var customMirror: Mirror {
    Mirror(self, children: ["keyId": keyId, "issuerId": issuerId, "bundleId": bundleId])
  }
}

extension DeveloperSigner {
  /// Returns a token for the App Store Server API, to be sent as `Authorization: Bearer …`. The claims are iss, iat,
  /// exp, aud (`appstoreconnect-v1`) and bid.
  ///
  /// - Throws: ``SigningError`` with `invalid-value` if the lifetime or the time is out of range.
  package func serverToken(
    issuedAt: Timestamp, lifetime: Int = 300
  ) throws(SigningError) -> String {
    guard (1...3600).contains(lifetime) else {
      throw SigningError(
        .invalidValue, at: "lifetime",
        "The App Store accepts tokens that live 1 to 3600 seconds, not \(lifetime).")
    }
    let issuedAt = try Self.seconds(issuedAt)
    return try token { claims in
      claims.member("iss", issuerId)
      claims.member("iat", issuedAt)
      claims.member("exp", issuedAt + Int64(lifetime))
      claims.member("aud", "appstoreconnect-v1")
      claims.member("bid", bundleId)
    }
  }
}
