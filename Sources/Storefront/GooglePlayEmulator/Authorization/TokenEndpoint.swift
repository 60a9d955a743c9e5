// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import Synchronization

/// Exchanges assertions of service accounts for access tokens (RFC 7523), and checks the tokens of requests.
final class TokenEndpoint: Sendable {
  static let scope = "https://www.googleapis.com/auth/androidpublisher"
  static let googleAudience = "https://oauth2.googleapis.com/token"
  private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  private static let lifetime: Double = 3599
  private static let longestAssertion: Double = 3600
  private static let clockTolerance: Double = 300
  private static let mostTokens = 10_000

  private struct AccessToken {
    let hasScope: Bool
    let expires: Timestamp
  }

  private struct State {
    var accounts: [PlayServiceAccount]
    var tokens: [String: AccessToken] = [:]
  }

  private let state: Mutex<State>
  private let clock: @Sendable () -> Timestamp

  init(_ accounts: [PlayServiceAccount], clock: @escaping @Sendable () -> Timestamp) {
    state = Mutex(State(accounts: accounts))
    self.clock = clock
  }

  func add(_ account: PlayServiceAccount) { state.withLock { $0.accounts.append(account) } }

  /// An error with the code and description of Google's token endpoint.
  private struct Refusal: Error {
    let error: String
    let description: String

    init(_ error: String, _ description: String) {
      self.error = error
      self.description = description
    }

    static func invalidGrant(_ description: String) -> Refusal { Refusal("invalid_grant", description) }
  }

  /// Answers `POST /token`.
  func respond(to request: EmulatorRequest) -> RemoteResponse {
    guard request.method == "POST" else { return .text("The method is POST.\n", status: 405) }
    do throws(Refusal) {
      let form = EmulatorRequest("POST", target: "/?" + String(decoding: request.body, as: UTF8.self)).query
      func value(_ name: String) -> String? { form.first { $0.name == name }?.value }
      let type = request.header("Content-Type")?.lowercased() ?? ""
      guard type.hasPrefix("application/x-www-form-urlencoded"), let grant = value("grant_type") else {
        throw Refusal("invalid_request", "Missing required parameter: grant_type")
      }
      guard grant == Self.grantType else {
        throw Refusal("unsupported_grant_type", "Invalid grant_type: \(grant)")
      }
      guard let assertion = value("assertion"), !assertion.isEmpty else {
        throw Refusal("invalid_request", "Missing required parameter: assertion")
      }
      return .json([
        "access_token": try issue(assertion, host: request.header("Host")), "expires_in": Int(Self.lifetime),
        "token_type": "Bearer",
      ])
    } catch {
      return .json(["error": error.error, "error_description": error.description], status: 400)
    }
  }

  private func issue(_ assertion: String, host: String?) throws(Refusal) -> String {
    guard let presented = PresentedToken(assertion), let header = presented.header,
      let issuer = presented.text("iss")
    else { throw .invalidGrant("Bad JWT format.") }
    let accounts = state.withLock { $0.accounts }.filter { $0.email == issuer }
    guard !accounts.isEmpty else { throw .invalidGrant("Invalid grant: account not found") }
    guard header.alg == "RS256", header.crit == nil else {
      throw .invalidGrant("Invalid JWT: Failed to verify signature algorithm.")
    }
    let isSigned = accounts.contains { account in
      (header.kid == nil || header.kid == account.keyId)
        && presented.isSigned(by: account.publicKey, using: .rsaPKCS1v15(.sha256))
    }
    guard isSigned else { throw .invalidGrant("Invalid JWT Signature.") }
    let audiences =
      [Self.googleAudience] + (host.map { ["http://\($0)/token", "https://\($0)/token"] } ?? [])
    guard let audience = presented.text("aud"), audiences.contains(audience) else {
      throw .invalidGrant(
        "Invalid JWT: Failed audience check. The right audience is \(Self.googleAudience)")
    }
    let now = clock()
    let seconds = now.millisecondsSince1970 / 1000
    guard let issued = presented.number("iat"), let expires = presented.number("exp"), expires > seconds,
      issued <= seconds + Self.clockTolerance, issued >= seconds - Self.longestAssertion,
      expires - issued <= Self.longestAssertion
    else {
      throw .invalidGrant(
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
      )
    }
    guard let scopes = presented.text("scope")?.split(separator: " "), !scopes.isEmpty,
      scopes.allSatisfy({ $0.hasPrefix("https://www.googleapis.com/auth/") })
    else { throw Refusal("invalid_scope", "Invalid OAuth scope or ID token audience provided.") }
    let token = "ya29.c." + Base64URL.encodeToString(Random.bytes(96))
    state.withLock { state in
      if state.tokens.count >= Self.mostTokens {
        state.tokens = state.tokens.filter { $0.value.expires > now }
      }
      state.tokens[token] = AccessToken(
        hasScope: scopes.contains { $0 == Self.scope },
        expires: now.addingSeconds(Self.lifetime))
    }
    return token
  }

  /// Checks the access token of a request.
  func check(_ request: EmulatorRequest) throws(PlayError) {
    guard let bearer = request.bearerToken, let token = state.withLock({ $0.tokens[bearer] }),
      token.expires > clock()
    else { throw .unauthenticated }
    guard token.hasScope else { throw .insufficientScope }
  }

  /// Makes all access tokens invalid.
  func revokeAll() { state.withLock { $0.tokens = [:] } }
}
