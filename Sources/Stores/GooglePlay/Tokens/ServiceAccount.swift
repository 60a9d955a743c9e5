// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCodec
package import ReceiptCrypto

/// A Google Cloud service account with access to the Google Play Developer API, read from its key file.
///
/// Play Console grants the access. The key is never printed.
public struct ServiceAccount: Sendable {
  /// The account's address, as Play Console lists it (`client_email`).
  package let email: String
  /// The identifier of the key (`private_key_id`).
  package let keyId: String
  /// The URL that issues access tokens (`token_uri`).
  package let tokenURL: RemoteURL

  /// The audience of the assertions: `token_uri` as the file spells it.
  let audience: String
  package let privateKey: PrivateKey

  /// The largest key file that is read, in bytes; a key file has about 2,400.
  package static let maximumByteCount = 1 << 16

  /// Reads a key file, the JSON that the Google Cloud console creates.
  ///
  /// - Throws: ``ServiceAccountError``, which names the missing or wrong member and does not quote it.
  public init(keyFile: [UInt8]) throws(ServiceAccountError) {
    guard keyFile.count <= Self.maximumByteCount else {
      throw ServiceAccountError(at: "$", "The file has more than \(Self.maximumByteCount) bytes.")
    }
    guard let document = try? JSONValue(parsing: keyFile), document.object != nil else {
      throw ServiceAccountError(at: "$", "This is not a JSON object. Use the key file of a service account.")
    }
    func member(_ name: String) throws(ServiceAccountError) -> String {
      guard let text = document[name]?.string, !text.isEmpty else {
        throw ServiceAccountError(at: "$.\(name)", "The member is missing, or not a text.")
      }
      return text
    }
    guard try member("type") == "service_account" else {
      throw ServiceAccountError(
        at: "$.type", "This is not the key of a service account; create one in the Google Cloud console.")
    }
    email = try member("client_email")
    keyId = try member("private_key_id")
    audience = try member("token_uri")
    do throws(RemoteURL.Failure) {
      tokenURL = try RemoteURL(audience)
    } catch {
      throw ServiceAccountError(at: "$.token_uri", error.description)
    }
    let pem = try member("private_key")
    do throws(CryptoError) {
      privateKey = try PrivateKey(pem: pem)
    } catch {
      throw ServiceAccountError(at: "$.private_key", error.message)
    }
    guard case .rsa(let bits) = privateKey.publicKey.kind, bits >= 2048 else {
      throw ServiceAccountError(
        at: "$.private_key", "The key is not RSA of at least 2048 bits (\(privateKey.publicKey.kind)).")
    }
  }

  /// Returns an assertion for the JWT bearer grant (RFC 7523): header alg, typ, kid; claims iss, scope, aud, iat, exp.
  package func assertion(scope: String, issuedAt: Timestamp) throws(CryptoError) -> String {
    let issuedAt = issuedAt.wholeSecondsSince1970 ?? 0
    var header = JSONWriter()
    header.beginObject()
    for (name, value) in [("alg", "RS256"), ("typ", "JWT"), ("kid", keyId)] { header.member(name, value) }
    header.endObject()
    var claims = JSONWriter()
    claims.beginObject()
    for (name, value) in [("iss", email), ("scope", scope), ("aud", audience)] { claims.member(name, value) }
    claims.member("iat", issuedAt)
    claims.member("exp", issuedAt + 3600)
    claims.endObject()
    let input = Base64URL.encode(header.bytes) + [UInt8(ascii: ".")] + Base64URL.encode(claims.bytes)
    let signature = try privateKey.signature(for: input, using: .rsaPKCS1v15(.sha256))
    return String(decoding: JWSWriter.compact(signingInput: input, signature: signature), as: UTF8.self)
  }
}

extension ServiceAccount: CustomStringConvertible, CustomReflectable {
  /// The account and the identifier of the key, without the key.
  public var description: String { "ServiceAccount(\(email), key \(keyId))" }

  /// The account and the identifier of the key, without the key.
  public var customMirror: Mirror { Mirror(self, children: ["email": email, "keyId": keyId]) }
}

extension ServiceAccountError: CustomStringConvertible {
  /// The place and the message.
  public var description: String { "\(place): \(message)" }
}
