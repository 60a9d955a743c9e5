// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptVerification

/// Verifies the signed parts of one response.
struct PartVerification {
  let verifier: ReceiptVerifier
  let bundleId: String
  let environment: ReceiptEnvironment.Category
  let endpoint: AppStoreServerEndpoint
  let attempts: Int

  /// Verifies a part that must be there.
  func verify<Payload: SignedPayload>(
    _ compact: String?, at place: String, as type: Payload.Type = Payload.self
  ) throws(AppStoreServerError) -> VerifiedPayload<Payload> {
    let compact = try demandAll([compact], at: { _ in place })
    let parts: [VerifiedPayload<Payload>] = try verify(compact, at: { _ in place })
    guard let part = parts.first else { throw failure(.malformed, at: place, "There is no verdict on it.") }
    return part
  }

  /// Verifies a part that may be absent.
  func verifyIfPresent<Payload: SignedPayload>(
    _ compact: String?, at place: String, as type: Payload.Type = Payload.self
  ) throws(AppStoreServerError) -> VerifiedPayload<Payload>? {
    guard compact != nil else { return nil }
    return try verify(compact, at: place)
  }

  /// Parts that must all be there.
  func demandAll(
    _ parts: [String?], at place: (Int) -> String
  ) throws(AppStoreServerError) -> [String] {
    for (index, part) in parts.enumerated() where part == nil {
      throw AppStoreServerError(
        endpoint, attempts: attempts,
        .malformedResponse(
          MalformedReceipt(.missing, at: .jsonPath(place(index)), "The response has no such part.")))
    }
    return parts.compactMap { $0 }
  }

  /// Verifies many parts together, which costs less than one after the other.
  func verify<Payload: SignedPayload>(
    _ parts: [String], at place: (Int) -> String, as type: Payload.Type = Payload.self
  ) throws(AppStoreServerError) -> [VerifiedPayload<Payload>] {
    for (index, compact) in parts.enumerated() where !Self.isCompactJWS(compact) {
      throw failure(.malformed, at: place(index), "It is no JWS in compact serialization.")
    }
    let verdicts = verifier.verifyTogether(parts.map { Array($0.utf8) }[...])
    // One too few would shift the others to the wrong parts.
    guard verdicts.count == parts.count else {
      throw failure(.malformed, at: place(verdicts.count), "There is no verdict on it.")
    }
    var verified: [VerifiedPayload<Payload>] = []
    verified.reserveCapacity(parts.count)
    for (index, verdict) in verdicts.enumerated() {
      verified.append(try believe(verdict, of: parts[index], at: place(index)))
    }
    return verified
  }

  private func believe<Payload: SignedPayload>(
    _ verdict: Verdict, of compact: String, at place: String
  ) throws(AppStoreServerError) -> VerifiedPayload<Payload> {
    let receipt: VerifiedReceipt
    switch verdict {
    case .valid(let verified): receipt = verified
    case .invalid(let refused):
      throw failure(refused.reason.code, at: place, refused.reason.message)
    case .undetermined(let unclear):
      throw failure(unclear.reason.code, at: place, unclear.reason.message, isRetryable: unclear.isRetryable)
    }
    guard case .jws(let content) = receipt.content, let payload = Payload(content) else {
      throw failure(
        .wrongKind, at: place,
        "Here a \(Payload.kind.rawValue) belongs, and this is a \(receipt.kind.rawValue).")
    }
    try demandBundle(receipt.bundleId, at: place)
    try demandEnvironment(receipt.environment, at: place)
    return VerifiedPayload(payload: payload, receipt: receipt, compact: compact)
  }

  /// What the unsigned rest of a response, or a signed part, says of the app. Not all say it.
  func demandBundle(_ stated: String?, at place: String) throws(AppStoreServerError) {
    guard let stated, !hasSameBytes(stated, bundleId) else { return }
    throw failure(.wrongBundle, at: place, "It is of the app \"\(stated)\", not of \"\(bundleId)\".")
  }

  /// What the unsigned rest of a response, or a signed part, says of the environment. Not all say it.
  func demandEnvironment(_ stated: ReceiptEnvironment?, at place: String) throws(AppStoreServerError) {
    guard let stated, stated.category != environment else { return }
    throw failure(
      .wrongEnvironment, at: place,
      "It is of the environment \"\(stated.rawValue)\", and \(environment.rawValue) was asked.")
  }

  /// That a part is about the transaction that was asked for. Absent is not the same.
  func demand(
    _ stated: String?, is expected: String, _ name: String, at place: String
  ) throws(AppStoreServerError) {
    guard stated.map({ hasSameBytes($0, expected) }) != true else { return }
    throw failure(
      .nestedMismatch, at: place,
      "Its \(name) is \(stated.map { "\"\($0)\"" } ?? "absent"), and \"\(expected)\" belongs here.")
  }

  /// Swift compares strings by canonical equivalence; identifiers are compared byte for byte.
  private func hasSameBytes(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

  private func failure(
    _ code: ReasonCode, at place: String, _ message: String, isRetryable: Bool = false
  ) -> AppStoreServerError {
    AppStoreServerError(
      endpoint, attempts: attempts,
      .notVerified(
        AppStoreServerError.UnverifiedPart(
          place: place, code: code, message: ShownText.line(message), isRetryable: isRetryable)))
  }

  /// Whether a text is nothing but a JWS: the verifier would take one out of JSON or base64 around it.
  private static func isCompactJWS(_ text: String) -> Bool {
    var dots = 0
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "."): dots += 1
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        continue
      default: return false
      }
    }
    return dots == 2
  }
}
