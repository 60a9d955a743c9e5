// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

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
