// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
public import ReceiptCrypto

/// The public keys that verify signed entitlements: a JSON Web Key Set (RFC 7517).
///
/// A server publishes it at `/v1/apps/{app}/jwks.json`. An app has it compiled in, or fetches it over TLS and keeps it.
public struct EntitlementKeySet: Sendable, Hashable {
  /// The keys by their identifiers, the thumbprints of the keys (RFC 7638).
  private let keys: [String: PublicKey]

  private static let limits = ReceiptLimits(
    maximumByteCount: 1 << 16, maximumDepth: 8, maximumElementCount: 4096)

  /// Creates a key set.
  ///
  /// - Throws: ``SignedEntitlementsError`` with `unsupported` if a key is not on P-256.
  public init(_ keys: [PublicKey]) throws(SignedEntitlementsError) {
    var byIdentifier: [String: PublicKey] = [:]
    for key in keys {
      guard let point = key.pointOfP256 else {
        throw SignedEntitlementsError(
          .unsupported, "ES256 has keys on P-256, and this one is of another kind.")
      }
      byIdentifier[point.thumbprint] = key
    }
    self.keys = byIdentifier
  }

  /// Reads a key set. Keys for other algorithms and other uses are left out.
  ///
  /// - Throws: ``SignedEntitlementsError`` with `malformed` if it is no key set, a key for ES256 has no point of the
  ///   curve, or two keys have one identifier.
  public init(decoding json: [UInt8]) throws(SignedEntitlementsError) {
    let members: [JSONValue]
    do throws(MalformedReceipt) {
      let set = try JSONValue(parsing: json, part: "key set", limits: Self.limits)
      guard let array = set["keys"]?.array else {
        throw MalformedReceipt(.missing, at: .jsonPath("$.keys"), "A key set has an array of keys.")
      }
      members = array
    } catch {
      throw SignedEntitlementsError(.malformed, "\(error)")
    }
    var keys: [String: PublicKey] = [:]
    for (index, member) in members.enumerated() where Self.isForES256(member) {
      guard let identifier = member["kid"]?.string, let point = P256Point(member),
        let key = try? PublicKey(subjectPublicKeyInfo: point.subjectPublicKeyInfo)
      else {
        throw SignedEntitlementsError(
          .malformed, "The key $.keys[\(index)] has no kid, or x and y are no point of P-256.")
      }
      guard keys.updateValue(key, forKey: identifier) == nil else {
        throw SignedEntitlementsError(.malformed, "$.keys[\(index)].kid is also that of another key.")
      }
    }
    self.keys = keys
  }

  private static func isForES256(_ key: JSONValue) -> Bool {
    func allows(_ name: String, _ value: String) -> Bool { key[name].map { $0.string == value } ?? true }
    return key["kty"]?.string == "EC" && key["crv"]?.string == "P-256" && allows("alg", "ES256")
      && allows("use", "sig")
  }

  /// Returns the key with an identifier.
  func key(_ identifier: String) -> PublicKey? { keys[identifier] }

  /// Returns the key set as JSON.
  public func encoded() -> [UInt8] {
    var json = JSONWriter()
    json.object { set in
      set.array("keys", keys.sorted { $0.key < $1.key }) { entry, key in
        guard let point = entry.value.pointOfP256 else { return }
        key.beginObject()
        point.writeMembers(to: &key)
        key.member("kid", entry.key)
        key.member("alg", "ES256")
        key.member("use", "sig")
        key.endObject()
      }
    }
    return json.bytes
  }
}

/// A point of P-256, as a JSON Web Key states it (RFC 7518 section 6.2.1).
struct P256Point {
  private static let coordinateByteCount = 32
  /// The bytes of a SubjectPublicKeyInfo before the uncompressed point (RFC 5480): the algorithm `id-ecPublicKey` with
  /// the curve, and the beginning of the bit string.
  private static let prefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
    0x48,
    0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
  ]

  private let coordinates: [UInt8]

  init?(subjectPublicKeyInfo: [UInt8]) {
    guard subjectPublicKeyInfo.count == Self.prefix.count + 2 * Self.coordinateByteCount,
      subjectPublicKeyInfo.starts(with: Self.prefix)
    else { return nil }
    coordinates = Array(subjectPublicKeyInfo.dropFirst(Self.prefix.count))
  }

  fileprivate init?(_ key: JSONValue) {
    func coordinate(_ name: String) -> [UInt8]? {
      guard let text = key[name]?.string, let bytes = try? Base64URL.decode(Array(text.utf8)),
        bytes.count == Self.coordinateByteCount
      else { return nil }
      return bytes
    }
    guard let x = coordinate("x"), let y = coordinate("y") else { return nil }
    coordinates = x + y
  }

  var subjectPublicKeyInfo: [UInt8] { Self.prefix + coordinates }

  /// The thumbprint (RFC 7638 section 3): the SHA-256 of the required members, in base64url.
  var thumbprint: String {
    var json = JSONWriter()
    json.object { writeMembers(to: &$0) }
    return Base64URL.encodeToString(Digest.hash(json.bytes, using: .sha256))
  }

  /// Writes the required members, in the order of a thumbprint.
  func writeMembers(to key: inout JSONWriter) {
    key.member("crv", "P-256")
    key.member("kty", "EC")
    key.member("x", Base64URL.encodeToString(Array(coordinates.prefix(Self.coordinateByteCount))))
    key.member("y", Base64URL.encodeToString(Array(coordinates.suffix(Self.coordinateByteCount))))
  }
}

extension PublicKey {
  /// The point of a key on P-256; `nil` for keys of other kinds.
  var pointOfP256: P256Point? {
    kind == .p256 ? P256Point(subjectPublicKeyInfo: subjectPublicKeyInfo) : nil
  }
}
