// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
internal import Storefront

// The emulator does not use the client's types for JSON. A misspelled name in them would be the same on both sides and
// pass every test.
extension JSONValue {
  package static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

  package static func date(_ instant: Timestamp) -> JSONValue { .integer(Int64(instant.wholeMilliseconds)) }

  /// The member `sendAttempts` as Apple writes it.
  static func sendAttempts(_ attempts: some Sequence<DeliveryRecord.Attempt>) -> JSONValue {
    .array(
      attempts.map {
        .members(("attemptDate", .date($0.attemptDate)), ("sendAttemptResult", .string($0.sendAttemptResult)))
      })
  }

  /// An object with one member replaced or added.
  package func setting(_ name: String, _ value: JSONValue) -> JSONValue {
    guard case .object(var members) = self else { return self }
    if let index = members.firstIndex(where: { $0.name == name }) {
      members[index].value = value
    } else {
      members.append(JSONMember(name: name, value: value))
    }
    return .object(members)
  }

  package var flag: Bool? {
    guard case .bool(let flag) = self else { return nil }
    return flag
  }

  /// The string as a UUID in lower case; `nil` if it is not a UUID.
  var uuid: String? { string.flatMap { UUIDString(rawValue: $0).uuid }.map { UUIDString($0).rawValue } }

  /// The value with every string in it transformed, at any depth.
  func mappingStrings(_ change: (String) -> String) -> JSONValue {
    switch self {
    case .string(let text): .string(change(text))
    case .array(let elements): .array(elements.map { $0.mappingStrings(change) })
    case .object(let members):
      .object(members.map { JSONMember(name: $0.name, value: $0.value.mappingStrings(change)) })
    default: self
    }
  }
}
