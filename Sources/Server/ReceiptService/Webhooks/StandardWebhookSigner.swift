// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptBytes
  package import ReceiptCodec
  package import ReceiptCrypto

  /// Signs webhooks according to Standard Webhooks, with a secret that the receiver shares
  /// (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>).
  ///
  /// ```
  /// webhook-id: msg_2c9f2d6ec1f0d3a44b3a5a3f2e5b7c11
  /// webhook-timestamp: 1759302552
  /// webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=
  /// ```
  package struct StandardWebhookSigner: Sendable {
    package static let secretPrefix = "whsec_"
    /// The secrets, which all sign; there are several during a change.
    let secrets: [[UInt8]]

    /// Parses a secret, `whsec_` and 24 to 64 bytes in base64; `nil` for any other text.
    package static func secret(_ text: String) -> [UInt8]? {
      guard text.hasPrefix(secretPrefix),
        let bytes = try? Base64.decode(Array(text.utf8.dropFirst(secretPrefix.utf8.count))),
        24...64 ~= bytes.count
      else { return nil }
      return bytes
    }

    package static func text(_ secret: [UInt8]) -> String { secretPrefix + Base64.encodeToString(secret) }

    /// The headers that sign a webhook.
    ///
    /// - Throws: `CryptoError` if OpenSSL fails.
    package func headers(
      id: String, at instant: Timestamp, body: [UInt8]
    ) throws(CryptoError) -> [(name: String, value: String)] {
      let timestamp = String(Int64((instant.millisecondsSince1970 / 1000).rounded(.down)))
      let message = Array("\(id).\(timestamp).".utf8) + body
      let signatures = try secrets.map { secret throws(CryptoError) in
        "v1," + Base64.encodeToString(try HMAC.code(for: message, key: secret, using: .sha256))
      }
      return [
        ("webhook-id", id), ("webhook-timestamp", timestamp),
        ("webhook-signature", signatures.joined(separator: " ")),
      ]
    }
  }
#endif
