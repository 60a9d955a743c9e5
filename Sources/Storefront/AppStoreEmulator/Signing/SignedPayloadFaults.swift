// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptSigning

/// Applies faults to the signed payloads in a body.
struct SignedPayloadFaults {
  let signing: EmulatorSigning

  /// The body with every signed payload in it replaced, at any depth. A body that is not JSON is not changed.
  func apply(_ fault: EmulatorFault, to body: [UInt8]) -> [UInt8] {
    guard let json = try? JSONValue(parsing: body) else { return body }
    return json.mappingStrings { text in
      guard text.hasPrefix("eyJ"), let jws = try? UnverifiedJWS(parsing: Array(text.utf8)) else {
        return text
      }
      return changed(jws, by: fault) ?? text
    }.encoded()
  }

  private func changed(_ jws: UnverifiedJWS, by fault: EmulatorFault) -> String? {
    switch fault {
    case .flippedBit: flipped(jws)
    case .untrustedSigner: signed(jws.payload, by: signing.untrusted)
    case .otherApp: resigned(jws, Self.ofOtherApp)
    case .otherEnvironment: resigned(jws, Self.ofOtherEnvironment)
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

  private func resigned(_ jws: UnverifiedJWS, _ change: (JSONMember) -> JSONValue?) -> String? {
    guard let payload = try? JSONValue(parsing: jws.payload) else { return nil }
    return signed(Self.changing(payload, change).encoded(), by: signing.jws)
  }

  private func signed(_ payload: [UInt8], by signer: JWSSigner) -> String? {
    (try? signer.sign(encodedPayload: payload)).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func ofOtherApp(_ member: JSONMember) -> JSONValue? {
    ["bundleId": .string("com.example.other"), "appAppleId": .integer(1)][member.name]
  }

  private static func ofOtherEnvironment(_ member: JSONMember) -> JSONValue? {
    guard ["environment", "receiptType"].contains(member.name) else { return nil }
    return member.value.string.map { .string($0 == "Production" ? "Sandbox" : "Production") }
  }

  /// Changes members of an object and of the objects nested in it.
  private static func changing(_ value: JSONValue, _ change: (JSONMember) -> JSONValue?) -> JSONValue {
    guard case .object(let members) = value else { return value }
    return .object(
      members.map { JSONMember(name: $0.name, value: change($0) ?? changing($0.value, change)) })
  }
}

extension JSONValue {
  /// The value with every string in it transformed, at any depth.
  fileprivate func mappingStrings(_ change: (String) -> String) -> JSONValue {
    switch self {
    case .string(let text): .string(change(text))
    case .array(let elements): .array(elements.map { $0.mappingStrings(change) })
    case .object(let members):
      .object(members.map { JSONMember(name: $0.name, value: $0.value.mappingStrings(change)) })
    default: self
    }
  }
}
