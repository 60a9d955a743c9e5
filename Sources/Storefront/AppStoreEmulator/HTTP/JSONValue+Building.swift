// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
internal import Storefront

/// A value of a member that the emulators write.
package protocol JSONConvertible {
  var json: JSONValue { get }
}

extension JSONValue: JSONConvertible { package var json: JSONValue { self } }
extension String: JSONConvertible { package var json: JSONValue { .string(self) } }
extension Bool: JSONConvertible { package var json: JSONValue { .bool(self) } }
extension Int64: JSONConvertible { package var json: JSONValue { .integer(self) } }
extension Int: JSONConvertible { package var json: JSONValue { .integer(Int64(self)) } }
extension Timestamp: JSONConvertible { package var json: JSONValue { .integer(Int64(wholeMilliseconds)) } }
extension Array: JSONConvertible where Element: JSONConvertible {
  package var json: JSONValue { .array(map(\.json)) }
}

/// The members of an object, in order, without those that have no value.
///
/// The emulator does not use the client's types for JSON. A misspelled name in them would be the same on both sides and
/// pass every test.
package struct JSONMembers: ExpressibleByDictionaryLiteral, JSONConvertible, Sendable {
  package private(set) var members: [JSONMember]

  package init(_ members: [JSONMember] = []) { self.members = members }

  package init(dictionaryLiteral elements: (String, (any JSONConvertible)?)...) {
    members = elements.compactMap { name, value in value.map { JSONMember(name: name, value: $0.json) } }
  }

  package var json: JSONValue { .object(members) }

  package func encoded() -> [UInt8] { json.encoded() }

  package static func += (left: inout JSONMembers, right: JSONMembers) { left.members += right.members }

  package static func + (left: JSONMembers, right: JSONMembers) -> JSONMembers {
    JSONMembers(left.members + right.members)
  }
}

extension JSONMembers {
  /// An attempt to send a notification, as Apple writes it.
  init(_ attempt: DeliveryRecord.Attempt) {
    self = ["attemptDate": attempt.attemptDate, "sendAttemptResult": attempt.sendAttemptResult]
  }
}

extension JSONValue {
  package var flag: Bool? {
    guard case .bool(let flag) = self else { return nil }
    return flag
  }

  /// The string as a UUID in lower case; `nil` if it is not a UUID.
  var uuid: String? { string.flatMap { UUIDString(rawValue: $0).uuid }.map { UUIDString($0).rawValue } }
}
