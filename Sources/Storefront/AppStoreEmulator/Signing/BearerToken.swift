// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
package import ReceiptCrypto

/// A JSON Web Token that a client presents.
package struct PresentedToken {
  private let jws: UnverifiedJWS
  private let claims: JSONValue

  /// Reads a token without verifying it; `nil` if it is not a JWS with JSON in it.
  package init?(_ text: String) {
    guard let jws = try? UnverifiedJWS(parsing: Array(text.utf8)),
      let claims = try? JSONValue(parsing: jws.payload)
    else { return nil }
    (self.jws, self.claims) = (jws, claims)
  }

  package var header: JWSHeader? { try? jws.header() }

  package func text(_ claim: String) -> String? { claims[claim]?.string }
  package func number(_ claim: String) -> Double? { claims[claim]?.int64.map { Double($0) } }

  package func isSigned(by key: PublicKey, using algorithm: SignatureAlgorithm) -> Bool {
    let input = Array(jws.compact[jws.signingInputRange])
    return (try? key.isValidSignature(jws.signature, for: input, using: algorithm)) == true
  }
}

/// Validates `Authorization: Bearer`: ES256 by a known key, `iss`, `aud`, `bid`, and a lifetime of at most one hour.
struct BearerTokenChecks {
  let keys: [DeveloperKey]
  let bundleId: String
  let now: Timestamp

  private static let longestLife: Double = 3600
  private static let clockTolerance: Double = 60

  func accepts(_ text: String?) -> Bool {
    guard let token = text.flatMap(PresentedToken.init), let header = token.header,
      header.alg == "ES256",
      let key = keys.first(where: { $0.keyId == header.kid }),
      token.isSigned(by: key.publicKey, using: .ecdsaP256SHA256), let expires = token.number("exp")
    else { return false }
    let now = now.millisecondsSince1970 / 1000
    // Apple's Python library sends no `iat`. The lifetime is then counted from now.
    let issued = token.number("iat") ?? now
    return token.text("iss") == key.issuerId && token.text("aud") == "appstoreconnect-v1"
      && token.text("bid") == bundleId && expires > now && issued <= now + Self.clockTolerance
      && expires - issued <= Self.longestLife
  }
}
