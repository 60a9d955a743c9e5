// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptSigning

/// Faults of the signed payloads in a body.
extension EmulatorSigning {
  /// The body with every signed payload in it replaced, at any depth. A body that is not JSON is not changed.
  func applying(_ fault: EmulatorFault, to body: [UInt8]) -> [UInt8] {
    guard let json = try? JSONValue(parsing: body) else { return body }
    return json.replacing { _, value in
      guard let text = value.string, text.hasPrefix("eyJ"),
        let jws = try? UnverifiedJWS(parsing: Array(text.utf8))
      else { return nil }
      return changed(jws, by: fault).map(JSONValue.string)
    }.encoded()
  }

  private func changed(_ jws: UnverifiedJWS, by fault: EmulatorFault) -> String? {
    switch fault {
    case .flippedBit: flipped(jws)
    case .untrustedSigner: signed(jws.payload, by: untrusted)
    case .otherApp:
      resigned(jws) { name, _ in
        ["bundleId": .string("com.example.other"), "appAppleId": .integer(1)][name ?? ""]
      }
    case .otherEnvironment:
      resigned(jws) { name, value in
        guard let name, ["environment", "receiptType"].contains(name) else { return nil }
        return value.string.map { .string($0 == "Production" ? "Sandbox" : "Production") }
      }
    default: nil
    }
  }

  /// Flips the lowest bit of the payload's middle byte. The result is often still JSON, but never the signed bytes.
  private func flipped(_ jws: UnverifiedJWS) -> String? {
    var payload = jws.payload
    payload[payload.count / 2] ^= 1
    let text = jws.compact
    let header = text[jws.encodedHeaderRange]
    let bytes =
      header + [UInt8(ascii: ".")] + Base64URL.encode(payload) + text[jws.signingInputRange.upperBound...]
    return String(decoding: bytes, as: UTF8.self)
  }

  private func resigned(_ jws: UnverifiedJWS, _ change: JSONValue.Replacement) -> String? {
    guard let payload = try? JSONValue(parsing: jws.payload) else { return nil }
    return signed(payload.replacing(change).encoded(), by: self.jws)
  }

  private func signed(_ payload: [UInt8], by signer: JWSSigner) -> String? {
    (try? signer.sign(encodedPayload: payload)).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension JSONValue {
  /// Another value in place of one, if there is one; of a member also its name.
  fileprivate typealias Replacement = (_ name: String?, _ value: JSONValue) -> JSONValue?

  /// The value with values in it replaced, at any depth.
  fileprivate func replacing(of name: String? = nil, _ replacement: Replacement) -> JSONValue {
    if let other = replacement(name, self) { return other }
    return switch self {
    case .array(let elements): .array(elements.map { $0.replacing(replacement) })
    case .object(let members):
      .object(members.map { JSONMember(name: $0.name, value: $0.value.replacing(of: $0.name, replacement)) })
    default: self
    }
  }
}
