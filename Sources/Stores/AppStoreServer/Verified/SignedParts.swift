// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptVerification

struct SignedParts: Sendable {
  let verifier: ReceiptVerifier
  let bundleId: String
  let environment: ReceiptEnvironment.Category
  let endpoint: AppStoreServerEndpoint
  let attempts: Int

  func verify<Payload: WirePayload>(
    _ compact: String?, at place: String, as type: Payload.Type = Payload.self
  ) throws(AppStoreServerError) -> VerifiedPayload<Payload> {
    try verifyOne(try require(compact, at: place), at: place)
  }

  func verifyIfPresent<Payload: WirePayload>(
    _ compact: String?, at place: String, as type: Payload.Type = Payload.self
  ) throws(AppStoreServerError) -> VerifiedPayload<Payload>? {
    guard let compact else { return nil }
    return try verifyOne(compact, at: place)
  }

  private func verifyOne<Payload: WirePayload>(
    _ compact: String, at place: String
  ) throws(AppStoreServerError) -> VerifiedPayload<Payload> {
    try requireCompactJWS(compact, at: place)
    return try accept(verifier.verify(Array(compact.utf8)), of: compact, at: place)
  }

  /// Verifies several parts together, which costs less than one after the other.
  func verify<Payload: WirePayload>(
    _ parts: [String], at place: (Int) -> String, as type: Payload.Type = Payload.self
  ) throws(AppStoreServerError) -> [VerifiedPayload<Payload>] {
    for (index, compact) in parts.enumerated() { try requireCompactJWS(compact, at: place(index)) }
    let verdicts = verifier.verifyTogether(parts.map { Array($0.utf8) }[...])
    // A missing verdict would shift the others to the wrong parts.
    guard verdicts.count == parts.count else {
      throw failure(.malformed, at: place(verdicts.count), "There is no verdict on it.")
    }
    var verified: [VerifiedPayload<Payload>] = []
    verified.reserveCapacity(parts.count)
    for (index, verdict) in verdicts.enumerated() {
      verified.append(try accept(verdict, of: parts[index], at: place(index)))
    }
    return verified
  }

  func require<Value>(_ value: Value?, at place: String) throws(AppStoreServerError) -> Value {
    guard let value else { throw malformed(.missing, at: place, "The response has no such member.") }
    return value
  }

  /// Returns a page of a response; it is an error if the next page is not stated, because the rest would be lost.
  func page<Element>(
    _ elements: [Element], hasMore: Bool?, next token: String?, named name: String
  ) throws(AppStoreServerError) -> RemotePage<Element, AppStoreServerError> {
    let place = "$.\(name)"
    let hasMore = try require(hasMore, at: "$.hasMore")
    if hasMore, token?.isEmpty ?? true {
      throw malformed(.missing, at: place, "There are more pages, and the response does not name the next.")
    }
    return RemotePage(
      elements, next: hasMore ? token : nil,
      repeated: malformed(
        .duplicate, at: place, "The page names one as next that was there before; that would never end."))
  }

  private func accept<Payload: WirePayload>(
    _ verdict: Verdict, of compact: String, at place: String
  ) throws(AppStoreServerError) -> VerifiedPayload<Payload> {
    let receipt: VerifiedReceipt
    switch verdict {
    case .valid(let verified): receipt = verified
    case .invalid(let refused):
      throw failure(refused.reason.code, at: place, refused.reason.message)
    case .undetermined(let undetermined):
      throw failure(
        undetermined.reason.code, at: place, undetermined.reason.message,
        isRetryable: undetermined.isRetryable)
    }
    guard case .jws(let content) = receipt.content, let payload = Payload(content) else {
      throw failure(
        .wrongKind, at: place,
        "A \(Payload.kind.rawValue) is required here, and this is a \(receipt.kind.rawValue).")
    }
    try requireBundle(receipt.bundleId, at: place)
    try requireEnvironment(receipt.environment, at: place)
    return VerifiedPayload(payload: payload, receipt: receipt, compact: compact)
  }

  /// Checks the app that a signed part or the unsigned rest of a response states; not all state one.
  func requireBundle(_ stated: String?, at place: String) throws(AppStoreServerError) {
    guard let stated, !UTF8Text.isIdentical(stated, bundleId) else { return }
    throw failure(.wrongBundle, at: place, "It is of the app \"\(stated)\", not of \"\(bundleId)\".")
  }

  /// Checks the environment that a signed part or the unsigned rest of a response states; not all state one.
  func requireEnvironment(_ stated: ReceiptEnvironment?, at place: String) throws(AppStoreServerError) {
    guard let stated, stated.category != environment else { return }
    throw failure(
      .wrongEnvironment, at: place,
      "It is of the environment \"\(stated.rawValue)\", and the request was to \(environment.rawValue).")
  }

  /// Checks that a part is about the requested transaction; an absent identifier does not match.
  func require(
    _ stated: String?, is expected: String, _ name: String, at place: String
  ) throws(AppStoreServerError) {
    guard stated.map({ UTF8Text.isIdentical($0, expected) }) != true else { return }
    throw failure(
      .nestedMismatch, at: place,
      "Its \(name) is \(stated.map { "\"\($0)\"" } ?? "absent"), not \"\(expected)\".")
  }

  private func malformed(
    _ code: MalformedReceipt.Code, at place: String, _ message: String
  ) -> AppStoreServerError {
    AppStoreServerError(
      endpoint, attempts: attempts,
      .malformedResponse(MalformedReceipt(code, at: .jsonPath(place), message)))
  }

  private func failure(
    _ code: ReasonCode, at place: String, _ message: String, isRetryable: Bool = false
  ) -> AppStoreServerError {
    AppStoreServerError(
      endpoint, attempts: attempts,
      .notVerified(
        AppStoreServerError.UnverifiedPart(
          place: place, code: code, message: ShownText.line(message), isRetryable: isRetryable)))
  }

  /// Refuses everything except a bare JWS, because the verifier would also extract one from JSON or base64 around it.
  private func requireCompactJWS(_ text: String, at place: String) throws(AppStoreServerError) {
    var dots = 0
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "."): dots += 1
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        continue
      default: dots = .min
      }
    }
    guard dots == 2 else { throw failure(.malformed, at: place, "It is no JWS in compact serialization.") }
  }
}
