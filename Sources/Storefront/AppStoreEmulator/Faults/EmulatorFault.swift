// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A fault in an answer.
public enum EmulatorFault: Sendable, Hashable {
  // Faults of the connection.

  /// The correct answer, delayed.
  case delay(milliseconds: Int)
  /// No bytes are sent, and the connection stays open.
  case neverAnswer
  /// The connection is closed after this number of bytes of the response, including its head.
  case cut(afterBytes: Int)
  /// The connection is reset after this number of bytes.
  case reset(afterBytes: Int)
  /// `Content-Length` is wrong by this number of bytes.
  case contentLength(off: Int)
  /// A chunked body with malformed chunks.
  case brokenChunks
  /// Bytes that are not HTTP.
  case notHTTP
  /// A body that does not end.
  case endlessBody
  /// A head that does not end.
  case endlessHead

  // Faults of the response.

  /// This status, with a text body and an optional `Retry-After` in seconds from now.
  case status(Int, retryAfter: RetryAfterForm? = nil, seconds: Int = 1)
  /// Error JSON of the App Store. The status is the code divided by 10000.
  case error(code: Int64, retryAfter: RetryAfterForm? = nil, seconds: Int = 1)
  /// The correct answer to this number of requests in each period of seconds, then the App Store's error 4290000 with
  /// `Retry-After` as UNIX time in milliseconds.
  case rateLimit(requests: Int, seconds: Int)
  /// A redirect.
  case redirect(RedirectTarget)
  /// JSON with values of wrong types.
  case wrongJSON
  /// Truncated JSON in a complete response.
  case truncatedJSON
  /// The JSON of another endpoint.
  case otherEndpoint
  /// `verifyReceipt` answers with this status and nothing else.
  case receiptStatus(Int, isRetryable: Bool? = nil)

  // Faults of signed payloads.

  /// One bit of each signed payload is flipped.
  case flippedBit
  /// Signed payloads are signed by another identity.
  case untrustedSigner
  /// Signed payloads name another app.
  case otherApp
  /// Signed payloads name the other environment.
  case otherEnvironment

  /// The name without parameters.
  var name: String { String("\(self)".prefix { $0 != "(" }) }
}

extension EmulatorFault {
  /// Reads a fault. It must have exactly the parameters of its kind, by their names.
  init(_ json: FaultMembers) throws {
    guard let kind = Self.kinds.first(where: { $0.key == json.kind })?.value else {
      let known = Self.kinds.map(\.key).joined(separator: ", ")
      throw EmulatorControl.Failure("The kind \"\(json.kind)\" is not one of: \(known).")
    }
    var rest = json
    self = try kind(&rest)
    let others = try JSONValue(parsing: rest.encodedJSON()).object ?? []
    if let other = others.first(where: { $0.name != "kind" }) {
      throw EmulatorControl.Failure("A fault of the kind \"\(json.kind)\" has no \"\(other.name)\".")
    }
  }

  /// The kinds, by their names in JSON. Each closure takes its parameters from the members.
  private static let kinds: KeyValuePairs<String, @Sendable (inout FaultMembers) throws -> EmulatorFault> = [
    "delay": {
      .delay(
        milliseconds: try $0.number("milliseconds", \.milliseconds, in: 0...EmulatorFault.mostSeconds * 1000))
    },
    "never-answer": { _ in .neverAnswer },
    "cut": { .cut(afterBytes: try $0.number("afterBytes", \.afterBytes)) },
    "reset": { .reset(afterBytes: try $0.number("afterBytes", \.afterBytes)) },
    "content-length": { .contentLength(off: try $0.number("off", \.off, in: .min ... .max)) },
    "broken-chunks": { _ in .brokenChunks },
    "not-http": { _ in .notHTTP },
    "endless-body": { _ in .endlessBody },
    "endless-head": { _ in .endlessHead },
    "status": {
      .status(
        try $0.number("status", \.status, in: 200...599), retryAfter: $0.retryAfter.take(),
        seconds: try $0.takeSeconds())
    },
    "error": {
      .error(
        code: Int64(try $0.number("errorCode", \.errorCode, in: 2_000_000...5_999_999)),
        retryAfter: $0.retryAfter.take(), seconds: try $0.takeSeconds())
    },
    "rate-limit": {
      .rateLimit(requests: try $0.number("requests", \.requests), seconds: try $0.takeSeconds())
    },
    "redirect": { .redirect(try $0.need("target", \.target)) },
    "wrong-json": { _ in .wrongJSON },
    "truncated-json": { _ in .truncatedJSON },
    "other-endpoint": { _ in .otherEndpoint },
    "receipt-status": {
      .receiptStatus(
        try $0.number("status", \.status, in: .min ... .max), isRetryable: $0.isRetryable.take())
    },
    "flipped-bit": { _ in .flippedBit },
    "untrusted-signer": { _ in .untrustedSigner },
    "other-app": { _ in .otherApp },
    "other-environment": { _ in .otherEnvironment },
  ]

  /// One year, which keeps sums of instants in range.
  fileprivate static let mostSeconds = 31_536_000
}

extension FaultMembers {
  /// Takes a required parameter.
  fileprivate mutating func need<Value>(
    _ name: String, _ member: WritableKeyPath<FaultMembers, Value?>
  ) throws -> Value {
    guard let value = self[keyPath: member].take() else {
      throw EmulatorControl.Failure("A fault of the kind \"\(kind)\" needs \"\(name)\".")
    }
    return value
  }

  /// Takes a required number.
  fileprivate mutating func number(
    _ name: String, _ member: WritableKeyPath<FaultMembers, Int?>, in range: ClosedRange<Int> = 0 ... .max
  ) throws -> Int {
    let value = try need(name, member)
    guard range ~= value else {
      throw EmulatorControl.Failure(
        "\"\(name)\" of the kind \"\(kind)\" is \(value), and not in \(range.lowerBound)...\(range.upperBound)."
      )
    }
    return value
  }

  fileprivate mutating func takeSeconds() throws -> Int {
    seconds == nil ? 1 : try number("seconds", \.seconds, in: 0...EmulatorFault.mostSeconds)
  }
}
