// SPDX-License-Identifier: Apache-2.0

import Entitlements
import GooglePlay
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import Synchronization
import Testing

/// A Google Play that answers what it is told, with its token endpoint, its keys and its push service.
enum PlayFixture {
  static let now = Timestamp(secondsSince1970: 1_760_000_000)
  static let packageName = "com.example.app"
  static let audience = "https://example.com/play"
  static let pushEmail = "push@example.iam.gserviceaccount.com"
  static let keyId = "b1a1"

  static func keyFile(_ change: (inout [String: String]) -> Void = { _ in }) throws -> [UInt8] {
    var members = [
      "type": "service_account", "project_id": "example", "private_key_id": "0123456789abcdef",
      "private_key": try TestKeys.otherRSA().pkcs8PEM(),
      "client_email": "play@example.iam.gserviceaccount.com",
      "client_id": "1", "token_uri": "https://oauth2.googleapis.com/token",
    ]
    change(&members)
    return JSONValue.object(
      members.sorted { $0.key < $1.key }.map { JSONMember(name: $0.key, value: .string($0.value)) }
    ).encoded()
  }

  static func account() throws -> ServiceAccount { try ServiceAccount(keyFile: keyFile()) }

  static func isTokenRequest(_ request: RemoteRequest) -> Bool { request.url.path == "/token" }

  /// Answers token requests with `token-1`, `token-2`…, and anything else as told.
  static func transport(
    _ answer: @escaping @Sendable (RemoteRequest) throws(HTTPTransportError) -> RemoteResponse
  ) -> FakeTransport {
    let count = Mutex(0)
    return FakeTransport { request async throws(HTTPTransportError) in
      guard isTokenRequest(request) else { return try answer(request) }
      let number = count.withLock { count in
        count += 1
        return count
      }
      return .json(#"{"access_token":"token-\#(number)","token_type":"Bearer","expires_in":3599}"#)
    }
  }

  static func transport(_ answers: [RemoteResponse]) -> FakeTransport {
    let next = Mutex(0)
    return transport { _ throws(HTTPTransportError) in
      answers[
        next.withLock { index in
          defer { index += 1 }
          return min(index, answers.count - 1)
        }]
    }
  }

  static func client(
    _ transport: FakeTransport, time: ManualTime = ManualTime(now), retry: RetryPolicy = RetryPolicy(),
    packageName: String = packageName
  ) throws -> GooglePlayClient {
    GooglePlayClient(
      transport: transport, account: try account(), packageName: packageName, retry: retry,
      time: time.remoteTime)
  }

  /// An error as Google's APIs answer it.
  static func error(
    _ status: Int, _ name: String, reason: String = "other", headers: [HTTPHeader] = []
  ) -> RemoteResponse {
    .json(
      """
      {"error":{"code":\(status),"message":"No.","errors":[{"message":"No.","domain":"androidpublisher",\
      "reason":"\(reason)"}],"status":"\(name)"}}
      """, status: status, headers: headers)
  }

  // MARK: Push

  /// The key set, with the key of `keyId`.
  static func keySet(_ identifiers: [String] = [keyId], key: PrivateKey? = nil) throws -> String {
    let numbers = try rsaNumbers((key ?? TestKeys.otherRSA()).publicKey)
    let keys = identifiers.map {
      #"{"kty":"RSA","kid":"\#($0)","alg":"RS256","use":"sig","n":"\#(numbers.n)","e":"\#(numbers.e)"}"#
    }
    return #"{"keys":[\#(keys.joined(separator: ","))]}"#
  }

  /// Modulus and exponent from a SubjectPublicKeyInfo, in base64url.
  private static func rsaNumbers(_ key: PublicKey) throws -> (n: String, e: String) {
    let der = key.subjectPublicKeyInfo
    // … INTEGER (00 …) INTEGER (3 bytes, 65537) at the end.
    try #require(der.suffix(5) == [0x02, 0x03, 0x01, 0x00, 0x01])
    guard case .rsa(let bits) = key.kind else { throw CancellationError() }
    let modulus = der.dropLast(5).suffix(bits / 8)
    return (Base64URL.encodeToString(Array(modulus)), "AQAB")
  }

  static let claims: [(String, JSONValue)] = [
    ("aud", .string(audience)), ("azp", .string("113774264463038321964")), ("email", .string(pushEmail)),
    ("email_verified", .bool(true)), ("exp", .integer(1_760_003_500)), ("iat", .integer(1_759_999_900)),
    ("iss", .string("https://accounts.google.com")), ("sub", .string("113774264463038321964")),
  ]

  static func pushToken(
    header: [(String, JSONValue)] = [
      ("alg", .string("RS256")), ("kid", .string(keyId)), ("typ", .string("JWT")),
    ],
    key: PrivateKey? = nil, algorithm: SignatureAlgorithm = .rsaPKCS1v15(.sha256),
    _ change: (inout [(String, JSONValue)]) -> Void = { _ in }
  ) throws -> String {
    var claims = claims
    change(&claims)
    func encoded(_ members: [(String, JSONValue)]) -> [UInt8] {
      Base64URL.encode(JSONValue.object(members.map { JSONMember(name: $0, value: $1) }).encoded())
    }
    let input = encoded(header) + Array(".".utf8) + encoded(claims)
    let signature = try (key ?? TestKeys.otherRSA()).signature(for: input, using: algorithm)
    return String(decoding: JWSWriter.compact(signingInput: input, signature: signature), as: UTF8.self)
  }

  static func verifier(_ transport: FakeTransport, time: ManualTime = ManualTime(now)) -> PushTokenVerifier {
    PushTokenVerifier(
      audience: audience, email: pushEmail, transport: transport, retry: .once(within: .seconds(5)),
      time: time.remoteTime)
  }

  /// A transport that answers with the key set alone.
  static func keys() throws -> FakeTransport {
    FakeTransport(.json(try keySet(), headers: [HTTPHeader("Cache-Control", "public, max-age=20000")]))
  }

  /// The body of a push with a notification.
  static func push(_ notification: String, id: String = "136969346945") -> [UInt8] {
    let data = Base64.encodeToString(Array(notification.utf8))
    return Array(
      """
      {"message":{"attributes":{"key":"value"},"data":"\(data)","messageId":"\(id)","message_id":"\(id)",\
      "publishTime":"2025-10-09T08:53:19.5Z","publish_time":"2025-10-09T08:53:19.5Z"},\
      "subscription":"projects/example/subscriptions/play"}
      """.utf8)
  }
}

extension [(String, JSONValue)] {
  mutating func set(_ name: String, _ value: JSONValue?) {
    removeAll { $0.0 == name }
    if let value { append((name, value)) }
  }
}

/// The error of a call; `nil` where it succeeds.
func playError<Value>(_ call: () async throws(GooglePlayError) -> Value) async -> GooglePlayError? {
  do throws(GooglePlayError) {
    _ = try await call()
    return nil
  } catch {
    return error
  }
}
