// SPDX-License-Identifier: Apache-2.0

import Entitlements
import Foundation
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification
import Testing

/// Signed entitlements: what is signed is accepted, and nothing else.
@Suite struct SignedEntitlementsTests {
  private let key: PrivateKey
  private let signer: EntitlementSigner
  private let keys: EntitlementKeySet
  private static let now = Timestamp(secondsSince1970: 1_800_000_000)

  init() throws {
    key = try PrivateKey.generateP256()
    signer = try EntitlementSigner(privateKey: key)
    keys = try EntitlementKeySet([signer.publicKey])
  }

  private static func entitlements(
    until: Timestamp? = now.addingSeconds(3600), customer: String = "ann"
  ) -> SignedEntitlements {
    SignedEntitlements(
      app: "shop", customer: customer, issuer: nil, issuedAt: now, expiresAt: now.addingSeconds(86_400),
      access: [
        EntitlementAccess(
          name: "premium", standing: .active, since: now.addingSeconds(-60), until: until, reasons: []),
        EntitlementAccess(name: "pro", standing: nil, since: nil, until: nil, reasons: []),
      ])
  }

  private func verify(
    _ token: String, app: String = "shop", customer: String = "ann", at instant: Timestamp = now
  ) throws(SignedEntitlementsError) -> SignedEntitlements {
    try SignedEntitlements(verifying: token, keys: keys, app: app, customer: customer, at: instant)
  }

  private func code(
    _ token: String, app: String = "shop", customer: String = "ann", at instant: Timestamp = now
  )
    -> SignedEntitlementsError.Code?
  {
    do { _ = try verify(token, app: app, customer: customer, at: instant) } catch { return error.code }
    return nil
  }

  /// A token with any header and claims, signed by a key.
  private func token(_ header: String, _ claims: String? = nil, key: PrivateKey? = nil) throws -> String {
    let claims = claims ?? #"{"sub":"ann","aud":"shop","iat":1800000000,"exp":1800086400,"entitlements":[]}"#
    let input =
      Base64URL.encode(Array(header.utf8)) + [UInt8(ascii: ".")] + Base64URL.encode(Array(claims.utf8))
    let signature = try (key ?? self.key).signature(for: input, using: .ecdsaP256SHA256)
    return String(decoding: JWSWriter.compact(signingInput: input, signature: signature), as: UTF8.self)
  }

  private var header: String { #"{"alg":"ES256","kid":"\#(signer.keyIdentifier)","typ":"entitlements+jwt"}"# }

  @Test("a token gives back what was signed, and ends when the period does")
  func roundTrip() throws {
    let read = try verify(try signer.sign(Self.entitlements()))
    #expect(read == Self.entitlements())
    #expect(read.grantsAccess(to: "premium", at: Self.now))
    #expect(!read.grantsAccess(to: "premium", at: Self.now.addingSeconds(3600)))
    #expect(!read.grantsAccess(to: "pro", at: Self.now))
    #expect(!read.grantsAccess(to: "Premium", at: Self.now))
    let forever = try verify(try signer.sign(Self.entitlements(until: nil)))
    #expect(forever.grantsAccess(to: "premium", at: Self.now.addingSeconds(86_399)))
    #expect(!forever.grantsAccess(to: "premium", at: Self.now.addingSeconds(86_400)))
  }

  @Test("a token is of one app, one customer and one time")
  func audience() throws {
    let token = try signer.sign(Self.entitlements())
    #expect(code(token, app: "game") == .wrongApp)
    #expect(code(token, customer: "bob") == .wrongCustomer)
    #expect(code(token, at: Self.now.addingSeconds(86_461)) == .expired)
    #expect(code(token, at: Self.now.addingSeconds(-61)) == .issuedInFuture)
    #expect(code(token, at: Self.now.addingSeconds(-59)) == nil)
  }

  @Test("no byte of a token can be changed")
  func changedBytes() throws {
    let token = Array(try signer.sign(Self.entitlements()).utf8)
    for index in token.indices {
      var changed = token
      changed[index] = token[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(code(String(decoding: changed, as: UTF8.self)) != nil, "byte \(index)")
    }
    #expect(code(String(decoding: token.dropLast(), as: UTF8.self)) != nil)
    #expect(code(String(decoding: token, as: UTF8.self) + "A") != nil)
  }

  @Test("the header chooses neither algorithm nor type nor key")
  func headers() throws {
    #expect(code(try token(header)) == nil)
    let kid = signer.keyIdentifier
    for header in [
      #"{"alg":"none","kid":"\#(kid)","typ":"entitlements+jwt"}"#,
      #"{"alg":"HS256","kid":"\#(kid)","typ":"entitlements+jwt"}"#,
      #"{"alg":"ES256","kid":"\#(kid)","typ":"JWT"}"#, #"{"alg":"ES256","kid":"\#(kid)"}"#,
      #"{"alg":"ES256","kid":"\#(kid)","typ":"entitlements+jwt","crit":["b64"],"b64":false}"#,
    ] {
      #expect(code(try token(header)) == .unsupported, "\(header)")
    }
    let other = try PrivateKey.generateP256()
    #expect(code(try token(header, key: other)) == .badSignature)
    #expect(code(try EntitlementSigner(privateKey: other).sign(Self.entitlements())) == .unknownKey)
    #expect(code(try token(#"{"alg":"ES256","typ":"entitlements+jwt"}"#)) == .unknownKey)
  }

  @Test(
    "claims that are missing or wrong are refused",
    arguments: [
      #"{"aud":"shop","iat":1800000000,"exp":1800086400,"entitlements":[]}"#,
      #"{"sub":"ann","aud":["shop","game"],"iat":1800000000,"exp":1800086400,"entitlements":[]}"#,
      #"{"sub":"ann","aud":"shop","iat":"1800000000","exp":1800086400,"entitlements":[]}"#,
      #"{"sub":"ann","aud":"shop","iat":1800000000,"entitlements":[]}"#,
      #"{"sub":"ann","aud":"shop","iat":1800000000,"exp":1800086400}"#,
      #"{"sub":"ann","aud":"shop","iat":1800000000,"exp":1800086400,"entitlements":[{"name":"premium"}]}"#,
      #"{"sub":"ann","aud":"shop","iat":1800000000,"exp":1800086400,"entitlements":[{"name":"premium","standing":"active","until":"soon"}]}"#,
      #"{"sub":"bob","sub":"ann","aud":"shop","iat":1800000000,"exp":1800086400,"entitlements":[]}"#,
      #"[]"#, "premium",
    ])
  func claims(_ claims: String) throws {
    #expect(code(try token(header, claims)) == .malformed)
  }

  @Test("a standing of a later version grants nothing")
  func laterStanding() throws {
    let claims =
      #"{"sub":"ann","aud":"shop","iat":1800000000,"exp":1800086400,"entitlements":[{"name":"premium","standing":"lent","grantsAccess":true}]}"#
    #expect(!(try verify(try token(header, claims)).grantsAccess(to: "premium", at: Self.now)))
  }

  @Test(
    "text that is no token is refused", arguments: ["", ".", "..", "a.b", "a.b.c.d", "e30.e30.", "ü.ü.ü"])
  func noToken(_ text: String) { #expect(code(text) == .malformed) }

  // MARK: Key sets

  @Test("a key set is written and read; its identifiers are thumbprints")
  func keySet() throws {
    #expect(try EntitlementKeySet(decoding: keys.encoded()) == keys)
    // The generator of P-256 as a key, and its thumbprint by Python's hashlib.
    let (x, y) = (
      "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY", "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"
    )
    let kid = "xx0BcA-wMohw8atYDJOe6peGModklG2wRHBlXHMvl0M"
    let text =
      #"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":"\#(kid)","ext":true}],"a":1}"#
    let header = try #require(Hexadecimal.decode("3059301306072a8648ce3d020106082a8648ce3d03010703420004"))
    let point = try Base64URL.decode(Array(x.utf8)) + Base64URL.decode(Array(y.utf8))
    let generator = try EntitlementKeySet([PublicKey(subjectPublicKeyInfo: header + point)])
    #expect(try EntitlementKeySet(decoding: Array(text.utf8)) == generator)
    #expect(try JSONValue(parsing: generator.encoded())["keys"]?.array?.first?["kid"]?.string == kid)
  }

  @Test("keys for other algorithms and uses are left out")
  func otherKeys() throws {
    let point = try #require(try JSONValue(parsing: keys.encoded())["keys"]?.array?.first)
    let (x, y) = (try #require(point["x"]?.string), try #require(point["y"]?.string))
    for other in [
      #"{"kty":"RSA","n":"AQAB","e":"AQAB","kid":"1"}"#,
      #"{"kty":"EC","crv":"P-384","x":"\#(x)","y":"\#(y)","kid":"1"}"#,
      #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":"1","use":"enc"}"#,
      #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":"1","alg":"ES384"}"#,
    ] {
      #expect(
        try EntitlementKeySet(decoding: Array(#"{"keys":[\#(other)]}"#.utf8))
          == EntitlementKeySet(decoding: Array(#"{"keys":[]}"#.utf8)))
    }
  }

  @Test("what is no key set, no point, or twice the same identifier is refused")
  func badKeySets() throws {
    let written = String(decoding: keys.encoded(), as: UTF8.self)
    let point = try #require(try JSONValue(parsing: keys.encoded())["keys"]?.array?.first)
    let x = try #require(point["x"]?.string)
    let one = written.dropFirst(#"{"keys":["#.count).dropLast(2)
    for text in [
      "", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[\#(one),\#(one)]}"#,
      #"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(x)","kid":"1"}]}"#,
      #"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"\#(x)","kid":"1"}]}"#,
      written.replacingOccurrences(of: "kid", with: "kit"),
    ] {
      #expect(throws: SignedEntitlementsError.self, "\(text)") {
        try EntitlementKeySet(decoding: Array(text.utf8))
      }
    }
  }

  @Test("keys that are not on P-256 neither sign nor verify")
  func otherKinds() throws {
    for key in [try PrivateKey.generateP384(), try PrivateKey.generateRSA()] {
      #expect(throws: SignedEntitlementsError.self) { try EntitlementSigner(privateKey: key) }
      #expect(throws: SignedEntitlementsError.self) { try EntitlementKeySet([key.publicKey]) }
    }
  }
}
