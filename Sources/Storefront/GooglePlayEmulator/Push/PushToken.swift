// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The OIDC token of a push, as Pub/Sub makes it, with a fault if there is one.
struct PushToken {
  let audience: String
  let email: String
  let now: Timestamp
  let fault: PushTokenFault?

  /// The value of the `Authorization` header; `nil` to omit the header.
  func authorization(_ keys: PushKeys) throws(CryptoError) -> String? {
    switch fault {
    case .noToken: nil
    case .notAToken: "Bearer not-a-token"
    case .otherScheme: "Basic \(try signed(keys))"
    default: "Bearer \(try signed(keys))"
    }
  }

  private func signed(_ keys: PushKeys) throws(CryptoError) -> String {
    var key = try keys.current()
    var keyId: String? = key.keyId
    var (algorithm, digest) = ("RS256", DigestAlgorithm.sha256)
    var issued = Int64(now.millisecondsSince1970 / 1000)
    var issuer = "https://accounts.google.com"
    var (audience, email): (String?, String?) = (audience, email)
    switch fault {
    case .foreignKey: key = try PushKeys.Key.make()
    case .retiredKey:
      key = try keys.retired()
      keyId = key.keyId
    case .unknownKeyId: keyId = "0000000000000000000000000000000000000000"
    case .noKeyId: keyId = nil
    case .otherAlgorithm: (algorithm, digest) = ("RS512", .sha512)
    case .unsigned: algorithm = "none"
    case .expired: issued -= 7200
    case .notYetIssued: issued += 7200
    case .otherIssuer: issuer = "https://issuer.example.com"
    case .lookalikeIssuer: issuer = "https://accounts.google.com.example.com"
    case .otherAudience: audience = "\(self.audience)/other"
    case .noAudience: audience = nil
    case .otherEmail: email = "somebody@another-project.iam.gserviceaccount.com"
    case .noEmail: email = nil
    default: break
    }
    func input(type: String = "JWT", subject: String = "100000000000000000002") -> String {
      let header: JSONMembers = ["alg": algorithm, "kid": keyId, "typ": type]
      let claims: JSONMembers = [
        "aud": audience, "azp": "100000000000000000002", "email": email,
        "email_verified": fault != .unverifiedEmail, "exp": fault == .noExpiry ? nil : issued + 3600,
        "iat": issued, "iss": issuer, "sub": subject,
      ]
      return [header, claims].map { Base64URL.encodeToString($0.encoded()) }.joined(separator: ".")
    }
    var presented = input()
    var signature = try key.privateKey.signature(for: Array(presented.utf8), using: .rsaPKCS1v15(digest))
    switch fault {
    case .twoParts: return presented
    case .unsigned, .emptySignature: signature = []
    case .flippedSignature: signature[0] ^= 1
    case .truncatedSignature: signature.removeLast()
    case .alteredPayload: presented = input(subject: "100000000000000000009")
    case .alteredHeader: presented = input(type: "at+jwt")
    default: break
    }
    return "\(presented).\(Base64URL.encodeToString(signature))"
  }
}
