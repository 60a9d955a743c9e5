// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptHTTP
internal import Storefront

/// Pushes messages as Pub/Sub does: the article of the module says when. An attempt is recorded after its answer.
struct PushSender: Sendable {
  private static let accepted: Set<Int> = [102, 200, 201, 202, 204]
  private static let retention: Double = 7 * 86_400

  let ledger: PlayLedger
  let transport: any HTTPTransport
  let timeout: Duration
  let keys: PushKeys
  let now: @Sendable () -> Timestamp
  /// The receivers' time, which determines whether tokens are valid.
  let clientClock: @Sendable () -> Timestamp
  let subscription: @Sendable () -> PushSubscription
  let gate = Gate()

  /// Makes all attempts that are due, in the order of their dates.
  func sendDue() async throws {
    try await gate.run {
      while subscription().url != nil, let (date, message) = try await ledger.nextMessage(), date <= now() {
        try await send(message, due: date)
      }
    }
  }

  private func send(_ message: PlayMessage, due date: Timestamp) async throws {
    var message = message
    var attempt = PlayMessage.Attempt()
    let (status, failure) = await push(message, nil)
    attempt.date = now()
    attempt.status = status.map { Int64($0) }
    attempt.failure = failure
    var next: Timestamp?
    if let status, Self.accepted.contains(status) {
      if message.duplicates > 0 {
        message.duplicates -= 1
        next = attempt.date
      }
    } else {
      let doublings = min(message.attempts.count, 6)
      next = attempt.date.addingSeconds(min(600, 10 * Double(1 << doublings)))
      if let end = next, end > message.publishDate.addingSeconds(Self.retention) { next = nil }
    }
    try await ledger.record(attempt, of: message, due: date, next: next)
  }

  /// Pushes a message once.
  ///
  /// - Returns: The status of the answer, or the reason that there is no answer.
  func push(_ message: PlayMessage, _ fault: PushTokenFault?) async -> (status: Int?, failure: String?) {
    let subscription = subscription()
    guard let text = subscription.url, let url = try? RemoteURL(text, allowsPlainHTTP: true) else {
      return (nil, "The push endpoint is no URL.")
    }
    let authorization: String?
    do throws(CryptoError) {
      authorization = try PushToken(
        audience: subscription.audience ?? text, email: subscription.email, now: clientClock(), fault: fault
      ).authorization(keys)
    } catch {
      return (nil, "The token could not be signed: \(error)")
    }
    let published = message.publishDate.iso8601
    let body: JSONMembers = [
      "message": [
        "attributes": JSONMembers(), "data": Base64.encodeToString(message.notification.encoded()),
        "messageId": message.messageId, "message_id": message.messageId, "publishTime": published,
        "publish_time": published,
      ] as JSONMembers, "subscription": subscription.name,
    ]
    do throws(HTTPTransportError) {
      let response = try await transport.post(
        body.encoded(), to: url, authorization: authorization, timeout: timeout)
      return (response.status, nil)
    } catch {
      return (nil, "\(error)")
    }
  }
}

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
