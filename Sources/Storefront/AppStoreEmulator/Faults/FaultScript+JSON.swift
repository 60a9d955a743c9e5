// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension FaultScript {
  /// Reads a list of rules.
  static func rules(_ json: JSONValue) throws -> [Rule] {
    guard let list = json.array else { throw EmulatorControl.Failure("Faults are a list of rules.") }
    return try list.enumerated().map { index, json in
      do { return try Rule(FaultRule(control: json.encoded())) } catch {
        throw EmulatorControl.Failure("Rule \(index): \(error)")
      }
    }
  }
}

extension FaultScript.Rule {
  fileprivate init(_ json: FaultRule) throws {
    let checks = [
      (!json.faults.isEmpty, "\"faults\" is empty."),
      (json.requests ?? 1 >= 1, "\"requests\" is less than 1."),
      (0...1 ~= json.probability ?? 1, "\"probability\" is not a number of 0 to 1."),
      (json.path?.hasPrefix("/") ?? true, "\"path\" is not a text that begins with /."),
      (json.target?.hasPrefix("/") ?? true, "\"target\" is not a text that begins with /."),
    ]
    if let failed = checks.first(where: { !$0.0 }) { throw EmulatorControl.Failure(failed.1) }
    self.init(
      try json.faults.map { try EmulatorFault($0) }, requests: json.requests, probability: json.probability,
      seed: UInt64(bitPattern: json.seed), path: json.path, target: json.target)
  }
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
