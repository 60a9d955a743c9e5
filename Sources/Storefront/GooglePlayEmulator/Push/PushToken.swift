// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// A fault in the token of a push, for tests of receivers. A receiver must refuse each.
enum PushTokenFault: String, CaseIterable, Sendable {
  case noToken = "no-token"
  case otherScheme = "other-scheme"
  case notAToken = "not-a-token"
  case twoParts = "two-parts"
  case unsigned = "unsigned"
  case emptySignature = "empty-signature"
  case flippedSignature = "flipped-signature"
  case truncatedSignature = "truncated-signature"
  case foreignKey = "foreign-key"
  case retiredKey = "retired-key"
  case unknownKeyId = "unknown-key-id"
  case noKeyId = "no-key-id"
  case otherAlgorithm = "other-algorithm"
  case alteredPayload = "altered-payload"
  case alteredHeader = "altered-header"
  case expired = "expired"
  case notYetIssued = "not-yet-issued"
  case noExpiry = "no-expiry"
  case otherIssuer = "other-issuer"
  case lookalikeIssuer = "lookalike-issuer"
  case otherAudience = "other-audience"
  case noAudience = "no-audience"
  case otherEmail = "other-email"
  case noEmail = "no-email"
  case unverifiedEmail = "unverified-email"
}

/// The OIDC token of a push, as Pub/Sub makes it.
struct PushToken {
  let audience: String
  let email: String
  let now: Timestamp

  /// The value of the `Authorization` header; `nil` to omit the header.
  func authorization(_ keys: PushKeys, _ fault: PushTokenFault?) throws(CryptoError) -> String? {
    switch fault {
    case .noToken: return nil
    case .notAToken: return "Bearer not-a-token"
    case .otherScheme: return "Basic \(try signed(keys, fault))"
    default: return "Bearer \(try signed(keys, fault))"
    }
  }

  private func signed(_ keys: PushKeys, _ fault: PushTokenFault?) throws(CryptoError) -> String {
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
    let header = Self.part(
      .members(
        ("alg", .string(algorithm)), ("kid", keyId.map { .string($0) }), ("typ", .string("JWT"))))
    let claims = claims(fault)
    let payload = Self.part(claims)
    var signature = try key.privateKey.signature(
      for: Array("\(header).\(payload)".utf8), using: .rsaPKCS1v15(digest))
    switch fault {
    case .twoParts: return "\(header).\(payload)"
    case .unsigned, .emptySignature: return "\(header).\(payload)."
    case .flippedSignature: signature[0] ^= 1
    case .truncatedSignature: signature.removeLast()
    default: break
    }
    let end = Base64URL.encodeToString(signature)
    switch fault {
    case .alteredPayload:
      return "\(header).\(Self.part(claims.setting("sub", .string("100000000000000000009")))).\(end)"
    case .alteredHeader:
      let other = Self.part(
        .members(
          ("alg", .string(algorithm)), ("kid", keyId.map { .string($0) }), ("typ", .string("at+jwt"))))
      return "\(other).\(payload).\(end)"
    default: return "\(header).\(payload).\(end)"
    }
  }

  private func claims(_ fault: PushTokenFault?) -> JSONValue {
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
    return .members(
      ("aud", fault == .noAudience ? nil : .string(fault == .otherAudience ? audience + "/other" : audience)),
      ("azp", .string("100000000000000000002")), ("email", fault == .noEmail ? nil : .string(email)),
      ("email_verified", .bool(fault != .unverifiedEmail)),
      ("exp", fault == .noExpiry ? nil : .integer(issued + 3600)), ("iat", .integer(issued)),
      ("iss", .string(issuer)), ("sub", .string("100000000000000000002")))
  }

  private static func part(_ json: JSONValue) -> String { Base64URL.encodeToString(json.encoded()) }
}
