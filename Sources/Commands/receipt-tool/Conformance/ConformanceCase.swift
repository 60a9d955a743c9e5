// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec

/// A case of the conformance suite, as a runner writes it to a harness.
struct ConformanceCase {
  let id: String
  let operation: String
  let input: JSONValue
  /// The policy document, in JSON.
  let policy: [UInt8]
  /// The policy document as the case states it.
  let statedPolicy: JSONValue
  /// The clock at which the case is evaluated.
  let time: Timestamp
  /// Indicates whether the certificates must be valid at ``time``, and not at the signing date.
  let isEvaluatedThen: Bool

  /// Reads a line.
  ///
  /// - Throws: ``MalformedReceipt`` with the member at fault.
  init(line: [UInt8]) throws(MalformedReceipt) {
    let limits = ReceiptLimits(maximumByteCount: line.count)
    try self.init(try JSONValue(parsing: line, part: "case", limits: limits))
  }

  /// Reads a case from its members.
  ///
  /// - Throws: ``MalformedReceipt`` with the member at fault.
  init(_ value: JSONValue) throws(MalformedReceipt) {
    id = try value.text("id")
    operation = try value.text("operation")
    input = value["input"] ?? .null
    time = try Timestamp(iso8601: value.text("time"))
    statedPolicy = value["policy"] ?? .object([])
    var members = value["policy"]?.object ?? []
    // The policy of a verifier names an instant in place of a clock.
    isEvaluatedThen = members.contains { $0.name == "time" && $0.value.string == "evaluation" }
    members.removeAll { $0.name == "time" }
    if isEvaluatedThen { members.append(JSONMember(name: "time", value: .string(time.iso8601))) }
    policy = JSONValue.object(members).encoded()
  }

  /// The receipt of the input, without the white space around it.
  var receipt: [UInt8] {
    get throws(MalformedReceipt) { ReceiptInputText.stripped(try bytes("receipt")) }
  }

  /// The bytes of a member of the input, which has them in base64.
  func bytes(_ name: String) throws(MalformedReceipt) -> [UInt8] { try input.base64(name) }
}

extension JSONValue {
  /// The text of a member.
  func text(_ name: String) throws(MalformedReceipt) -> String {
    guard let text = self[name]?.string else { throw .missing(name) }
    return text
  }

  /// The bytes of a member that has them in base64.
  func base64(_ name: String) throws(MalformedReceipt) -> [UInt8] {
    let encoded = Array(try text(name).utf8)
    do throws(Base64Error) { return try Base64.decode(encoded) } catch {
      throw MalformedReceipt(.invalidBase64, at: .jsonPath("$.\(name)"), error.message)
    }
  }
}

extension MalformedReceipt {
  static func missing(_ name: String) -> MalformedReceipt {
    MalformedReceipt(
      .missing, at: .jsonPath("$.\(name)"), "The member \(name) is missing or of another type.")
  }
}
