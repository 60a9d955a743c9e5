// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension EmulatorFault {
  /// The name without parameters.
  var name: String { String("\(self)".prefix { $0 != "(" }) }

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
