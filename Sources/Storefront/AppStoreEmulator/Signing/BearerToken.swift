// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import ReceiptCrypto

/// The public part of an App Store Connect key.
public struct DeveloperKey: Sendable, Hashable {
  package var keyId: String
  /// The issuer's identifier, a UUID.
  package var issuerId: String
  package var publicKey: PublicKey

  /// Creates a key.
  public init(keyId: String, issuerId: String, publicKey: PublicKey) {
    self.keyId = keyId
    self.issuerId = issuerId
    self.publicKey = publicKey
  }
}

/// Validates `Authorization: Bearer`: ES256 by a known key, `iss`, `aud`, `bid`, and a lifetime of at most one hour.
struct BearerTokenChecks {
  let keys: [DeveloperKey]
  let bundleId: String
  let now: Timestamp

  private static let longestLife: Double = 3600
  private static let clockTolerance: Double = 60

  /// Returns `true` if a token is valid.
  func accepts(_ token: String?) -> Bool {
    guard let token, let jws = try? UnverifiedJWS(parsing: Array(token.utf8)),
      let header = try? jws.header(), header.alg == "ES256",
      let key = keys.first(where: { $0.keyId == header.kid }),
      (try? key.publicKey.isValidSignature(
        jws.signature, for: Array(jws.compact[jws.signingInputRange]), using: .ecdsaP256SHA256)) == true,
      let claims = try? JSONValue(parsing: jws.payload)
    else { return false }
    return claims["iss"]?.string == key.issuerId && claims["aud"]?.string == "appstoreconnect-v1"
      && claims["bid"]?.string == bundleId && isInTime(claims)
  }

  /// `iat` may be absent, because Apple's Python library does not send it. The lifetime is then counted from now.
  private func isInTime(_ claims: JSONValue) -> Bool {
    guard let expires = claims["exp"]?.int64 else { return false }
    let now = now.millisecondsSince1970 / 1000
    let issued = claims["iat"]?.int64.map { Double($0) } ?? now
    return Double(expires) > now && issued <= now + Self.clockTolerance
      && Double(expires) - issued <= Self.longestLife
  }
}
