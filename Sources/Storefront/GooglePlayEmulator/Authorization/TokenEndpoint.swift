// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
public import GooglePlay
internal import ReceiptBytes
internal import ReceiptCodec
public import ReceiptCrypto
internal import Synchronization

extension PlayServiceAccount {
  /// Reads the account from a key file as the Google Cloud console writes it.
  ///
  /// - Throws: `ServiceAccountError`.
  public init(keyFile: [UInt8]) throws(ServiceAccountError) {
    let account = try ServiceAccount(keyFile: keyFile)
    self.init(email: account.email, keyId: account.keyId, publicKey: account.privateKey.publicKey)
  }

  /// Makes an account, and the key file that its clients use.
  ///
  /// - Parameter tokenURI: The URL of the token endpoint, which is written to the file.
  /// - Returns: The account, and the contents of the file, which include the private key.
  /// - Throws: `CryptoError`.
  public static func make(tokenURI: String) throws(CryptoError) -> (
    account: PlayServiceAccount, keyFile: [UInt8]
  ) {
    let key = try PushKeys.Key.make()
    let account = PlayServiceAccount(
      email: "play-emulator@receiptkit-emulator.iam.gserviceaccount.com", keyId: key.keyId,
      publicKey: key.privateKey.publicKey)
    let file: JSONMembers = [
      "type": "service_account", "project_id": "receiptkit-emulator", "private_key_id": account.keyId,
      "private_key": try key.privateKey.pkcs8PEM(), "client_email": account.email,
      "client_id": "100000000000000000001", "auth_uri": "https://accounts.google.com/o/oauth2/auth",
      "token_uri": tokenURI, "universe_domain": "googleapis.com",
    ]
    return (account, file.encoded())
  }
}

/// Exchanges assertions of service accounts for access tokens (RFC 7523), and checks the tokens of requests.
final class TokenEndpoint: Sendable {
  static let scope = "https://www.googleapis.com/auth/androidpublisher"
  static let googleAudience = "https://oauth2.googleapis.com/token"
  private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  private static let lifetime: Double = 3599
  private static let longestAssertion: Double = 3600
  private static let clockTolerance: Double = 300
  private static let mostTokens = 10_000

  private let tokens = Mutex<[String: (hasScope: Bool, expires: Timestamp)]>([:])
  private let accounts: [PlayServiceAccount]
  private let clock: @Sendable () -> Timestamp

  init(_ accounts: [PlayServiceAccount], clock: @escaping @Sendable () -> Timestamp) {
    self.accounts = accounts
    self.clock = clock
  }

  /// Answers `POST /token`.
  func respond(to request: EmulatorRequest) -> RemoteResponse {
    guard request.method == "POST" else { return .text("The method is POST.\n", status: 405) }
    do throws(Refusal) {
      let form = EmulatorRequest("POST", target: "/?" + String(decoding: request.body, as: UTF8.self))
      let type = request.header("Content-Type")?.lowercased() ?? ""
      guard type.hasPrefix("application/x-www-form-urlencoded"), let grant = form.value("grant_type") else {
        throw Refusal("invalid_request", "Missing required parameter: grant_type")
      }
      guard grant == Self.grantType else {
        throw Refusal("unsupported_grant_type", "Invalid grant_type: \(grant)")
      }
      guard let assertion = form.value("assertion"), !assertion.isEmpty else {
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
    else { throw Refusal("invalid_grant", "Bad JWT format.") }
    let accounts = accounts.filter { $0.email == issuer }
    guard !accounts.isEmpty else { throw Refusal("invalid_grant", "Invalid grant: account not found") }
    guard header.alg == "RS256", header.crit == nil else {
      throw Refusal("invalid_grant", "Invalid JWT: Failed to verify signature algorithm.")
    }
    let isSigned = accounts.contains { account in
      (header.kid == nil || header.kid == account.keyId)
        && presented.isSigned(by: account.publicKey, using: .rsaPKCS1v15(.sha256))
    }
    guard isSigned else { throw Refusal("invalid_grant", "Invalid JWT Signature.") }
    let audiences =
      [Self.googleAudience] + (host.map { ["http://\($0)/token", "https://\($0)/token"] } ?? [])
    guard let audience = presented.text("aud"), audiences.contains(audience) else {
      throw Refusal(
        "invalid_grant",
        "Invalid JWT: Failed audience check. The right audience is \(Self.googleAudience)")
    }
    let now = clock()
    let seconds = now.millisecondsSince1970 / 1000
    guard let issued = presented.number("iat"), let expires = presented.number("exp"), expires > seconds,
      issued <= seconds + Self.clockTolerance, issued >= seconds - Self.longestAssertion,
      expires - issued <= Self.longestAssertion
    else {
      throw Refusal(
        "invalid_grant",
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
      )
    }
    guard let scopes = presented.text("scope")?.split(separator: " "), !scopes.isEmpty,
      scopes.allSatisfy({ $0.hasPrefix("https://www.googleapis.com/auth/") })
    else { throw Refusal("invalid_scope", "Invalid OAuth scope or ID token audience provided.") }
    let token = "ya29.c." + Base64URL.encodeToString(Random.bytes(96))
    tokens.withLock { tokens in
      if tokens.count >= Self.mostTokens { tokens = tokens.filter { $0.value.expires > now } }
      tokens[token] = (scopes.contains { $0 == Self.scope }, now.addingSeconds(Self.lifetime))
    }
    return token
  }

  /// Checks the access token of a request.
  func check(_ request: EmulatorRequest) throws(PlayError) {
    guard let bearer = request.bearerToken, let token = tokens.withLock({ $0[bearer] }),
      token.expires > clock()
    else { throw .unauthenticated }
    guard token.hasScope else { throw .insufficientScope }
  }

  func revokeAll() { tokens.withLock { $0 = [:] } }
}
