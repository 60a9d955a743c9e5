// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// Verifies the OIDC token that authenticates push requests of Cloud Pub/Sub.
///
/// It verifies the signature, the issuer, the audience, the times and the service account.
///
/// Nothing else protects a notification of Google Play, because its content is not signed.
///
/// ```swift
/// let verifier = PushTokenVerifier(
///   audience: "https://example.com/play", email: "pubsub@example.iam.gserviceaccount.com", transport: transport)
/// let token = try await verifier.verify(authorization: request.headers["Authorization"])
/// ```
///
/// Any number of tasks may use one verifier at once, and share Google's keys. The caller shuts down the transport.
public struct PushTokenVerifier: Sendable {
  /// The URL of Google's public keys.
  public static let googleKeys = RemoteURL(secureHost: "www.googleapis.com")
    .appending(pathSegments: ["oauth2", "v3", "certs"])

  private static let issuers = ["https://accounts.google.com", "accounts.google.com"]
  /// The longest token that is read, in bytes; Google's have about 900.
  private static let maximumByteCount = 8192
  private static let limits = ReceiptLimits(
    maximumByteCount: maximumByteCount, maximumDepth: 8, maximumElementCount: 256)

  private let audience: String
  private let email: String
  private let keys: JSONWebKeys
  private let clockSkew: Double
  private let now: @Sendable () -> Timestamp

  /// Creates a verifier.
  ///
  /// - Parameters:
  ///   - audience: The audience that the Pub/Sub subscription sets, by default the URL of the endpoint.
  ///   - email: The address of the service account that the Pub/Sub subscription sets.
  ///   - transport: Requests the keys.
  ///   - keys: The URL of the keys; Google's by default.
  ///   - clockSkew: The allowed difference between the clocks, in seconds; 60 by default.
  ///   - retry: The retry policy for requests of the keys.
  ///   - time: The clocks and random numbers; the system's by default.
  public init(
    audience: String, email: String, transport: any HTTPTransport, keys: RemoteURL = googleKeys,
    clockSkew: Double = 60, retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.audience = audience
    self.email = email
    self.clockSkew = clockSkew
    self.keys = JSONWebKeys(keys, transport: transport, retry: retry, time: time)
    now = time.now
  }

  /// Verifies the token in the header of a request.
  ///
  /// - Parameter authorization: The value of the `Authorization` header; `nil` if there is no such header.
  /// - Returns: The token.
  /// - Throws: ``PushTokenRejection``.
  public func verify(authorization: String?) async throws(PushTokenRejection) -> Token {
    let scheme = "bearer "
    guard let authorization, authorization.utf8.count > scheme.utf8.count,
      authorization.prefix(scheme.count).lowercased() == scheme
    else { throw PushTokenRejection(.missing, "The request has no Authorization: Bearer.") }
    return try await verify(Array(authorization.dropFirst(scheme.count).utf8))
  }

  private func verify(_ compact: [UInt8]) async throws(PushTokenRejection) -> Token {
    guard compact.count <= Self.maximumByteCount else {
      throw PushTokenRejection(
        .tooLarge, "The token has \(compact.count) bytes; the limit is \(Self.maximumByteCount).")
    }
    let jws: UnverifiedJWS
    let header: JWSHeader
    do throws(MalformedReceipt) {
      jws = try UnverifiedJWS(parsing: compact, limits: Self.limits)
      header = try jws.header(limits: Self.limits)
    } catch {
      throw PushTokenRejection(.malformed, error.description)
    }
    // The token must not choose the algorithm: with HS256, anyone could sign with the public key.
    guard header.alg == "RS256", header.crit == nil else {
      throw PushTokenRejection(
        .unsupportedAlgorithm, "The token is not signed with RS256, or demands an extension (\(header.alg)).")
    }
    try await requireSignature(of: jws, keyIdentifier: header.kid)
    return try token(claims(jws))
  }

  private func requireSignature(
    of jws: UnverifiedJWS, keyIdentifier: String?
  ) async throws(PushTokenRejection) {
    guard let keyIdentifier else { throw PushTokenRejection(.unknownKey, "The token names no key.") }
    let key: PublicKey?
    do throws(JSONWebKeys.Failure) {
      key = try await keys.key(keyIdentifier)
    } catch {
      throw PushTokenRejection(.keysUnavailable, error.message)
    }
    guard let key else { throw PushTokenRejection(.unknownKey, "There is no key \"\(keyIdentifier)\".") }
    let isValid: Bool
    do throws(CryptoError) {
      isValid = try key.isValidSignature(
        jws.signature.span, for: jws.compact.span.extracting(jws.signingInputRange),
        using: .rsaPKCS1v15(.sha256))
    } catch {
      throw PushTokenRejection(.keysUnavailable, error.message)
    }
    guard isValid else {
      throw PushTokenRejection(.badSignature, "The signature is not that of the key \"\(keyIdentifier)\".")
    }
  }

  private func claims(_ jws: UnverifiedJWS) throws(PushTokenRejection) -> JSONValue {
    do throws(MalformedReceipt) {
      let claims = try JSONValue(parsing: jws.payload, part: "claims", limits: Self.limits)
      guard claims.object != nil else {
        throw MalformedReceipt(.wrongType, at: .jsonPath("$"), "The claims are not an object.")
      }
      return claims
    } catch {
      throw PushTokenRejection(.malformed, error.description)
    }
  }

  private func token(_ claims: JSONValue) throws(PushTokenRejection) -> Token {
    func instant(_ name: String) throws(PushTokenRejection) -> Timestamp {
      guard let seconds = claims[name]?.int64, abs(Double(seconds)) < Timestamp.greatestMagnitude / 1000
      else {
        throw PushTokenRejection(.malformed, "The claim \(name) is missing, or not a number of seconds.")
      }
      return Timestamp(secondsSince1970: seconds)
    }
    guard let issuer = claims["iss"]?.string, Self.issuers.contains(issuer) else {
      throw PushTokenRejection(.wrongIssuer, "The token is issued by \(claims["iss"]?.string ?? "nobody").")
    }
    guard claims["aud"]?.string.map({ UTF8Text.isIdentical($0, audience) }) == true else {
      throw PushTokenRejection(.wrongAudience, "The token is for \(claims["aud"]?.string ?? "no audience").")
    }
    let issuedAt = try instant("iat")
    let expiresAt = try instant("exp")
    let now = now()
    guard now < expiresAt.addingSeconds(clockSkew) else {
      throw PushTokenRejection(.expired, "The token expired at \(expiresAt.iso8601Seconds).")
    }
    guard issuedAt <= now.addingSeconds(clockSkew) else {
      throw PushTokenRejection(
        .issuedInFuture, "The token was issued at \(issuedAt.iso8601Seconds), in the future.")
    }
    guard claims["email"]?.string.map({ UTF8Text.isIdentical($0, email) }) == true else {
      throw PushTokenRejection(.wrongEmail, "The token is of \(claims["email"]?.string ?? "no account").")
    }
    guard claims["email_verified"] == .bool(true) else {
      throw PushTokenRejection(.emailNotVerified, "Google did not verify the address of the account.")
    }
    return Token(email: email, subject: claims["sub"]?.string, issuedAt: issuedAt, expiresAt: expiresAt)
  }
}

extension PushTokenVerifier: CustomStringConvertible, CustomReflectable {
  /// The audience and the account.
  public var description: String { "PushTokenVerifier(\(audience), \(email))" }

  /// The audience and the account.
  public var customMirror: Mirror { Mirror(self, children: ["audience": audience, "email": email]) }
}

/// The reason why the token of a push request is not accepted.
public struct PushTokenRejection: Error, Sendable, Hashable {
  /// The code of the reason.
  public let code: Code
  /// A sentence in one line of bounded length; it quotes claims, so do not send it back.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = ShownText.line(message)
  }

  /// `true` if the token could not be checked now and may be later.
  public var isRetryable: Bool { code == .keysUnavailable }
}

extension PushTokenRejection: CustomStringConvertible {
  /// The code and the message.
  public var description: String { "\(code.rawValue): \(message)" }
}
