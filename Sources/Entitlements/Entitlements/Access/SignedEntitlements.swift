// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptCrypto
internal import ReceiptVerification

/// Signs the named entitlements of customers, as JSON Web Tokens (RFC 7519) with ES256.
public struct EntitlementSigner: Sendable {
  /// The media type of the tokens, in their header `typ` (RFC 8725 section 3.11): no other token has it.
  static let type = "entitlements+jwt"

  private let key: PrivateKey
  private let header: JWSHeader

  /// Creates a signer.
  ///
  /// - Throws: ``SignedEntitlementsError`` with `unsupported` unless the key is on P-256.
  public init(privateKey: PrivateKey) throws(SignedEntitlementsError) {
    guard let point = privateKey.publicKey.pointOfP256 else {
      throw SignedEntitlementsError(
        .unsupported, "ES256 signs with a key on P-256, and this one is of another kind.")
    }
    key = privateKey
    header = JWSHeader(kid: point.thumbprint, typ: Self.type)
  }

  /// The identifier of the key: its thumbprint (RFC 7638).
  package var keyIdentifier: String { header.kid ?? "" }

  /// The public key, which verifies the tokens.
  public var publicKey: PublicKey { key.publicKey }

  /// Signs entitlements.
  ///
  /// - Returns: The token, in compact serialization.
  /// - Throws: `CryptoError` if OpenSSL fails.
  public func sign(_ entitlements: SignedEntitlements) throws(CryptoError) -> String {
    let input = JWSWriter.signingInput(header: header, payload: entitlements.claims)
    let signature = try key.signature(for: input, using: .ecdsaP256SHA256)
    return String(decoding: JWSWriter.compact(signingInput: input, signature: signature), as: UTF8.self)
  }
}

extension SignedEntitlements {
  /// The longest token that is read, in bytes.
  private static let maximumByteCount = 1 << 18
  private static let limits = ReceiptLimits(
    maximumByteCount: maximumByteCount, maximumDepth: 8, maximumElementCount: 1 << 14)

  /// Verifies a token: its signature, its app, its customer and its life.
  ///
  /// ```swift
  /// let keys = try EntitlementKeySet(decoding: keySetOfTheServer)
  /// let entitlements = try SignedEntitlements(
  ///   verifying: token, keys: keys, app: "shop", customer: customer, at: now)
  /// if entitlements.grantsAccess(to: "premium", at: now) { … }
  /// ```
  ///
  /// - Parameters:
  ///   - token: The token, as the server answered it.
  ///   - keys: The keys of the server.
  ///   - app: The app, by its name in the server's configuration.
  ///   - customer: The customer who uses the app; a UUID in any spelling. A token about another one is refused.
  ///   - instant: The current time.
  ///   - clockSkew: The allowed difference between the clocks, in seconds.
  /// - Throws: ``SignedEntitlementsError``.
  public init(
    verifying token: String, keys: EntitlementKeySet, app: String, customer: String, at instant: Timestamp,
    clockSkew: Double = 60
  ) throws(SignedEntitlementsError) {
    let jws: UnverifiedJWS
    let header: JWSHeader
    do throws(MalformedReceipt) {
      jws = try UnverifiedJWS(parsing: Array(token.utf8), limits: Self.limits)
      header = try jws.header(limits: Self.limits)
    } catch {
      throw SignedEntitlementsError(.malformed, error.description)
    }
    try Self.requireSignature(of: jws, header, keys)
    try self.init(payload: jws.payload)
    guard UTF8Text.isIdentical(self.app, app) else {
      throw SignedEntitlementsError(.wrongApp, "The token is for the app \(ShownText.plain(self.app)).")
    }
    guard UTF8Text.isIdentical(self.customer, UUIDString.canonical(customer)) else {
      throw SignedEntitlementsError(.wrongCustomer, "The token is about another customer.")
    }
    guard instant < expiresAt.addingSeconds(clockSkew) else {
      throw SignedEntitlementsError(.expired, "The life of the token ended at \(expiresAt.iso8601Seconds).")
    }
    guard issuedAt <= instant.addingSeconds(clockSkew) else {
      throw SignedEntitlementsError(
        .issuedInFuture, "The token was issued at \(issuedAt.iso8601Seconds), in the future.")
    }
  }

  /// Returns `true` if the customer has a named entitlement at an instant, as far as the token tells.
  ///
  /// It ends when the paid period does, or the token, whichever comes first.
  public func grantsAccess(to name: String, at instant: Timestamp) -> Bool {
    guard instant < expiresAt, let access = access.first(where: { UTF8Text.isIdentical($0.name, name) })
    else { return false }
    return access.grantsAccess && access.until.map { instant < $0 } ?? true
  }

  private static func requireSignature(
    of jws: UnverifiedJWS, _ header: JWSHeader, _ keys: EntitlementKeySet
  ) throws(SignedEntitlementsError) {
    // The token must not choose the algorithm, and no other token of the same key may pass for this one.
    guard header.alg == "ES256", header.typ == EntitlementSigner.type, header.crit == nil else {
      throw SignedEntitlementsError(
        .unsupported,
        "The header of the token must have alg ES256 and typ \(EntitlementSigner.type), and no crit.")
    }
    guard let identifier = header.kid, let key = keys.key(identifier) else {
      throw SignedEntitlementsError(.unknownKey, "No key has the identifier that the token states.")
    }
    let isValid: Bool
    do throws(CryptoError) {
      isValid = try key.isValidSignature(
        jws.signature.span, for: jws.compact.span.extracting(jws.signingInputRange),
        using: .ecdsaP256SHA256)
    } catch {
      throw SignedEntitlementsError(.badSignature, error.message)
    }
    guard isValid else {
      throw SignedEntitlementsError(.badSignature, "The signature is not that of the key.")
    }
  }

  // MARK: Claims

  /// The claims that do not depend on the time of signing.
  package var statement: [UInt8] {
    SignedEntitlements(
      app: app, customer: customer, issuer: issuer, issuedAt: Timestamp(millisecondsSince1970: 0),
      expiresAt: Timestamp(millisecondsSince1970: 0), access: access
    ).claims
  }

  fileprivate var claims: [UInt8] {
    var json = JSONWriter()
    json.object { claims in
      claims.member("iss", issuer)
      claims.member("sub", customer)
      claims.member("aud", app)
      claims.member("iat", issuedAt.wholeSeconds)
      claims.member("exp", expiresAt.wholeSeconds)
      claims.array("entitlements", access) { access, object in
        object.object { access.writeMembers(to: &$0) }
      }
    }
    return json.bytes
  }

  private init(payload: [UInt8]) throws(SignedEntitlementsError) {
    let claims: JSONValue
    do throws(MalformedReceipt) {
      claims = try JSONValue(parsing: payload, part: "claims", limits: Self.limits)
    } catch {
      throw SignedEntitlementsError(.malformed, error.description)
    }
    func missing(_ name: String) -> SignedEntitlementsError {
      SignedEntitlementsError(.malformed, "The claim \(name) is missing, or of the wrong type.")
    }
    func instant(_ name: String) throws(SignedEntitlementsError) -> Timestamp {
      guard let seconds = claims[name]?.int64, abs(Double(seconds)) < Timestamp.greatestMagnitude / 1000
      else { throw missing(name) }
      return Timestamp(secondsSince1970: seconds)
    }
    guard let app = claims["aud"]?.string else { throw missing("aud") }
    guard let customer = claims["sub"]?.string else { throw missing("sub") }
    guard let entitlements = claims["entitlements"]?.array else { throw missing("entitlements") }
    var access: [EntitlementAccess] = []
    for entitlement in entitlements {
      guard let one = EntitlementAccess(claim: entitlement) else { throw missing("entitlements") }
      access.append(one)
    }
    self.init(
      app: app, customer: customer, issuer: claims["iss"]?.string, issuedAt: try instant("iat"),
      expiresAt: try instant("exp"), access: access)
  }
}

extension EntitlementAccess {
  /// Reads an element of the claim `entitlements`; `nil` if a member is missing, or a date is malformed.
  fileprivate init?(claim: JSONValue) {
    guard let name = claim["name"]?.string, let standing = claim["standing"]?.string else { return nil }
    var dates: [Timestamp?] = []
    for member in ["since", "until"] {
      guard let value = claim[member] else {
        dates.append(nil)
        continue
      }
      guard let date = value.string.flatMap({ Timestamp(iso8601: Array($0.utf8).span) }) else { return nil }
      dates.append(date)
    }
    self.init(
      name: name,
      // A standing of a later version grants nothing.
      standing: standing == "none" ? nil : PurchaseStanding.Status(rawValue: standing) ?? .unknown,
      since: dates[0], until: dates[1], reasons: [])
  }
}

extension Timestamp {
  fileprivate var wholeSeconds: Int64 { Int64((millisecondsSince1970 / 1000).rounded(.down)) }
}
