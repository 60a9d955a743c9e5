// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// A case of the conformance suite: what a harness is asked, and the answer that is right.
package struct SuiteCase: Sendable {
  /// The permanent identifier, such as `signed-transaction::signature::der`.
  package let id: String
  package let description: String
  package let importance: String
  /// The features that a program must support for the case to concern it, the format first.
  package let features: [String]
  package let expected: Expected
  /// The line for the harness: the case without what would give the answer away.
  package let request: [UInt8]

  /// The answer that is right.
  package struct Expected: Sendable {
    package let verdict: Verdict
    package let reason: String?
    package let place: String?
    /// Of a valid case, the values that must be reported.
    package let values: [JSONMember]
  }

  package enum Verdict: String, Sendable {
    case valid, invalid, undetermined
    /// Both acceptance and refusal are right.
    case either
  }

  private static let hidden: Set = ["expected", "description", "importance", "flags"]

  /// Reads a case; `nil` unless all its members are there and have their types.
  init?(_ value: JSONValue) {
    guard let id = value["id"]?.string, let description = value["description"]?.string,
      let importance = value["importance"]?.string, let features = value["features"]?.array,
      let expected = value["expected"], let verdict = expected["verdict"]?.string.flatMap(Verdict.init),
      !features.isEmpty
    else { return nil }
    self.id = id
    self.description = description
    self.importance = importance
    self.features = features.compactMap(\.string)
    guard self.features.count == features.count else { return nil }
    self.expected = Expected(
      verdict: verdict, reason: expected["reason"]?.string, place: expected["place"]?.string,
      values: expected["values"]?.object ?? [])
    let asked = (value.object ?? []).filter { !Self.hidden.contains($0.name) }
    request = JSONValue.object(asked).encoded() + [0x0A]
  }
}
