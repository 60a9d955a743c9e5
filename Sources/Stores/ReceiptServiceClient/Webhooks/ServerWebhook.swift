// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
internal import ReceiptCrypto
public import ReceiptHTTP

/// A webhook of the server, whose signature is right (https://www.standardwebhooks.com).
///
/// ```swift
/// guard let webhook = ServerWebhook(verifying: body, headers: headers, secrets: [secret], at: now) else { return 400 }
/// // Once for each webhook.id, in the commit that does the work.
/// ```
public struct ServerWebhook: Sendable, Hashable {
  /// Identifies the change, however often it is delivered: act on it once.
  public let id: String
  /// When it was sent.
  public let sent: Timestamp
  /// What changed. Act on `data.access`, not on the type of the change.
  public let change: ServerChange

  /// Verifies the signature of a request before anything in it is believed, and reads it; `nil` if the signature is not
  /// that of a secret, if the request was sent too long ago, or if it is no webhook. Answer it with 400 then.
  ///
  /// - Parameters:
  ///   - body: The body of the request, exactly as it arrived.
  ///   - headers: Its headers.
  ///   - secrets: The secret, `whsec_…`, or several while one is replaced.
  ///   - instant: The current time.
  ///   - tolerance: The greatest difference between the time of sending and now, in seconds.
  public init?(
    verifying body: [UInt8], headers: [HTTPHeader], secrets: [Secret], at instant: Timestamp,
    tolerance: Double = 300
  ) {
    let request = RemoteResponse(status: 200, headers: headers, body: body)
    guard let id = request.header("webhook-id"), !id.isEmpty,
      let seconds = request.header("webhook-timestamp"), let number = Int64(seconds), "\(number)" == seconds,
      abs(instant.millisecondsSince1970 / 1000 - Double(number)) <= tolerance,
      let signatures = request.header("webhook-signature")
    else { return nil }
    let signed = Array("\(id).\(seconds).".utf8) + body
    let stated = signatures.split(separator: " ").prefix(16).filter { $0.hasPrefix("v1,") }
      .map { Array($0.dropFirst(3).utf8) }
    var isSigned = false
    for secret in secrets {
      let text = secret.text.hasPrefix("whsec_") ? String(secret.text.dropFirst(6)) : secret.text
      guard let key = try? Base64.decode(text.utf8.map { $0 }), key.count >= 16,
        let code = try? HMAC.code(for: signed, key: key, using: .sha256)
      else { continue }
      let expected = Array(Base64.encodeToString(code).utf8)
      for signature in stated where Self.isEqual(signature, expected) { isSigned = true }
    }
    guard isSigned, let change = try? ServerChange.read(request) else { return nil }
    self.id = id
    sent = Timestamp(secondsSince1970: number)
    self.change = change
  }

  /// Compares in a time that does not depend on where the two differ.
  private static func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 } == 0
  }
}
