// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// The error for a harness that breaks the protocol. Its answers then say nothing about the implementation.
package struct HarnessFault: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// The first line of a harness: what it supports.
package struct HarnessDeclaration: Sendable, Equatable {
  /// What is measured.
  package let harness: String
  package let version: String
  /// What it supports. A case with another feature is skipped.
  package let features: [String]
  /// The members of `values` that it reports, each of which must be right.
  package let reports: [String]
  /// Indicates whether its reasons are those of the suite.
  package let reasons: Bool
  /// Indicates whether it states where a fault is, as the suite does.
  package let places: Bool

  /// - Throws: ``HarnessFault`` if the line is no declaration.
  package init(line: [UInt8]) throws(HarnessFault) {
    let message = try HarnessMessage(line, members: Self.members)
    let features = message["features"]?.array ?? []
    let reports = message["reports"]?.array ?? []
    guard let harness = message["harness"]?.string, let version = message["version"]?.string,
      case .bool(let reasons)? = message["reasons"], case .bool(let places)? = message["places"],
      message["features"] != nil, message["reports"] != nil
    else { throw message.hasOtherMembers }
    self.harness = harness
    self.version = version
    self.features = features.compactMap(\.string)
    self.reports = reports.compactMap(\.string)
    self.reasons = reasons
    self.places = places
    guard self.features.count == features.count, self.reports.count == reports.count else {
      throw HarnessFault("features and reports of its declaration are lists of texts")
    }
  }

  private static let members: [String: HarnessMessage.Form] = [
    "harness": .text, "version": .text, "features": .list, "reports": .list, "reasons": .flag,
    "places": .flag,
  ]
}

/// The answer of a harness to a case.
package struct HarnessAnswer: Sendable {
  package let id: String
  package let verdict: SuiteCase.Verdict
  package let reason: String?
  package let place: String?
  let values: JSONValue
  package let context: String?

  /// - Throws: ``HarnessFault`` if the line is no answer to the case.
  init(line: [UInt8], to asked: SuiteCase) throws(HarnessFault) {
    let message = try HarnessMessage(line, members: Self.members)
    guard let id = message["id"]?.string, let verdict = message["verdict"]?.string else {
      throw message.hasOtherMembers
    }
    guard UTF8Text.isIdentical(id, asked.id), let known = SuiteCase.Verdict(rawValue: verdict),
      known != .either
    else {
      throw HarnessFault(
        "asked for \(asked.id), it answered '\(HarnessText.shown(id))', '\(HarnessText.shown(verdict))'")
    }
    self.id = asked.id
    self.verdict = known
    reason = message["reason"]?.string
    place = message["place"]?.string
    values = message["values"] ?? .object([])
    context = message["context"]?.string
  }

  private static let members: [String: HarnessMessage.Form] = [
    "id": .text, "verdict": .text, "reason": .text, "place": .text, "values": .object, "context": .text,
  ]
}

/// A line of a harness: a JSON object of known members. One that is null counts as absent.
private struct HarnessMessage {
  enum Form { case text, flag, list, object }

  private let value: JSONValue
  private let line: [UInt8]

  init(_ line: [UInt8], members: [String: Form]) throws(HarnessFault) {
    self.line = line
    let limits = ReceiptLimits(maximumByteCount: line.count, maximumDepth: 64, maximumElementCount: .max)
    guard let value = try? JSONValue(parsing: line, part: "line", limits: limits) else {
      throw HarnessFault("this line is no JSON: \(Self.shown(line))")
    }
    self.value = value
    let isKnown = (value.object ?? []).allSatisfy { member in
      guard let form = members[member.name] else { return member.value == .null }
      return member.value == .null || Self.isOf(form, member.value)
    }
    guard value.object != nil, isKnown else { throw hasOtherMembers }
  }

  subscript(name: String) -> JSONValue? { value[name] == .null ? nil : value[name] }

  var hasOtherMembers: HarnessFault {
    HarnessFault("this line has other members than the protocol: \(Self.shown(line))")
  }

  private static func isOf(_ form: Form, _ value: JSONValue) -> Bool {
    switch (form, value) {
    case (.text, .string), (.flag, .bool), (.list, .array), (.object, .object): true
    default: false
    }
  }

  private static func shown(_ line: [UInt8]) -> String {
    "'\(HarnessText.shown(String(decoding: line.prefix(200), as: UTF8.self)))'"
  }
}
