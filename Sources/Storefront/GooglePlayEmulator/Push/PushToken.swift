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
    let current = try keys.current()
    var key = current
    var keyId: String? = current.keyId
    var algorithm = "RS256"
    var digest = DigestAlgorithm.sha256
    switch fault {
    case .foreignKey: key = try PushKeys.Key.make()
    case .retiredKey:
      key = try keys.retired()
      keyId = key.keyId
    case .unknownKeyId: keyId = "0000000000000000000000000000000000000000"
    case .noKeyId: keyId = nil
    case .otherAlgorithm: (algorithm, digest) = ("RS512", .sha512)
    case .unsigned: algorithm = "none"
    default: break
    }
    func header(type: String) -> String { Self.part(["alg": algorithm, "kid": keyId, "typ": type]) }
    let input = header(type: "JWT") + "." + Self.part(claims())
    var signature = try key.privateKey.signature(for: Array(input.utf8), using: .rsaPKCS1v15(digest))
    switch fault {
    case .twoParts: return input
    case .unsigned, .emptySignature: return input + "."
    case .flippedSignature: signature[0] ^= 1
    case .truncatedSignature: signature.removeLast()
    default: break
    }
    let end = Base64URL.encodeToString(signature)
    switch fault {
    case .alteredPayload:
      return "\(header(type: "JWT")).\(Self.part(claims(subject: "100000000000000000009"))).\(end)"
    case .alteredHeader: return "\(header(type: "at+jwt")).\(Self.part(claims())).\(end)"
    default: return "\(input).\(end)"
    }
  }

  private func claims(subject: String = "100000000000000000002") -> JSONMembers {
    var issued = Int64(now.millisecondsSince1970 / 1000)
    switch fault {
    case .expired: issued -= 7200
    case .notYetIssued: issued += 7200
    default: break
    }
    let issuer =
      switch fault {
      case .otherIssuer: "https://issuer.example.com"
      case .lookalikeIssuer: "https://accounts.google.com.example.com"
      default: "https://accounts.google.com"
      }
    let email = fault == .otherEmail ? "somebody@another-project.iam.gserviceaccount.com" : email
    return [
      "aud": fault == .noAudience ? nil : fault == .otherAudience ? audience + "/other" : audience,
      "azp": "100000000000000000002", "email": fault == .noEmail ? nil : email,
      "email_verified": fault != .unverifiedEmail, "exp": fault == .noExpiry ? nil : issued + 3600,
      "iat": issued, "iss": issuer, "sub": subject,
    ]
  }

  private static func part(_ members: JSONMembers) -> String { Base64URL.encodeToString(members.encoded()) }
}
