// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptHTTP
internal import Synchronization

/// The keys that sign push tokens, and the key sets that publish them. A key is generated at first use.
final class PushKeys: Sendable {
  struct Key: Sendable {
    let keyId: String
    let privateKey: PrivateKey

    static func make() throws(CryptoError) -> Key {
      Key(keyId: Hexadecimal.encode(Random.bytes(20)), privateKey: try PrivateKey.generateRSA())
    }
  }

  private struct State {
    /// The published keys. The first one signs.
    var keys: [Key] = []
    /// The last key that is no longer published.
    var retired: Key?
    var longestAge: Int64 = 21_600
  }

  private let state = Mutex(State())

  func current() throws(CryptoError) -> Key {
    if let key = state.withLock({ $0.keys.first }) { return key }
    let made = try Key.make()
    return state.withLock { state in
      if let key = state.keys.first { return key }
      state.keys = [made]
      return made
    }
  }

  /// A key that was published earlier and no longer is.
  func retired() throws(CryptoError) -> Key {
    if let key = state.withLock({ $0.retired }) { return key }
    let made = try Key.make()
    state.withLock { $0.retired = made }
    return made
  }

  /// Signs with a new key from now on.
  func rotate(keepsOld: Bool) throws(CryptoError) {
    _ = try current()
    let made = try Key.make()
    state.withLock { state in
      if !keepsOld { state.retired = state.keys.first }
      state.keys = [made] + (keepsOld ? state.keys : [])
    }
  }

  /// Sets the time for which the key sets may be cached, in seconds.
  func setLongestAge(_ seconds: Int64) { state.withLock { $0.longestAge = seconds } }

  /// Answers `GET /oauth2/v3/certs`: a JSON Web Key Set (RFC 7517).
  func keySet() throws(CryptoError) -> RemoteResponse {
    try published { keys in
      [
        "keys": keys.compactMap { key -> JSONMembers? in
          guard let (modulus, exponent) = Self.numbers(of: key.privateKey.publicKey) else { return nil }
          return [
            "kid": key.keyId, "kty": "RSA", "alg": "RS256", "use": "sig",
            "n": Base64URL.encodeToString(modulus), "e": Base64URL.encodeToString(exponent),
          ]
        }
      ]
    }
  }

  /// Answers `GET /oauth2/v1/certs`: the same keys as certificates in PEM, by their identifiers.
  func certificates(now: Timestamp) throws(CryptoError) -> RemoteResponse {
    let seconds = Int64(now.millisecondsSince1970 / 1000)
    var template = CertificateTemplate(
      subject: DistinguishedName(organization: "ReceiptKit Test", commonName: "federated-signon"),
      notBefore: seconds - 86_400, notAfter: seconds + 30 * 86_400)
    template.basicConstraints = .endEntity
    template.keyUsage = .digitalSignature
    return try published { keys throws(CryptoError) in
      JSONMembers(
        try keys.map { key throws(CryptoError) in
          let certificate = try Certificate.issue(
            template, for: key.privateKey.publicKey, by: .itself(key.privateKey))
          return JSONMember(name: key.keyId, value: .string(certificate.pem))
        })
    }
  }

  private func published(
    _ body: ([Key]) throws(CryptoError) -> JSONMembers
  ) throws(CryptoError) -> RemoteResponse {
    _ = try current()
    let (keys, age) = state.withLock { ($0.keys, $0.longestAge) }
    var response = RemoteResponse.json(try body(keys))
    response.headers.append(
      HTTPHeader("Cache-Control", "public, max-age=\(age), must-revalidate, no-transform"))
    return response
  }

  /// The modulus and the exponent. All keys here have 2,048 bits and the exponent 65537, so both are at fixed places
  /// in the SubjectPublicKeyInfo.
  private static func numbers(of key: PublicKey) -> (modulus: [UInt8], exponent: [UInt8])? {
    let bytes = key.subjectPublicKeyInfo
    guard bytes.count == 294, bytes.suffix(5) == [0x02, 0x03, 0x01, 0x00, 0x01] else { return nil }
    return (Array(bytes[33..<289]), Array(bytes.suffix(3)))
  }
}
