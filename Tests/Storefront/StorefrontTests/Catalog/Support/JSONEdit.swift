// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// Changes one value of a JSON document, for sweeps over all possible faults.
enum JSONEdit {
  /// The path of a value.
  enum Step: Hashable, Sendable {
    case member(String)
    case element(Int)
  }

  /// The paths of all values but the top one.
  static func paths(in value: JSONValue) -> [[Step]] {
    switch value {
    case .object(let members):
      members.flatMap { member in
        [[.member(member.name)]] + paths(in: member.value).map { [.member(member.name)] + $0 }
      }
    case .array(let elements):
      elements.enumerated().flatMap { index, element in
        [[.element(index)]] + paths(in: element).map { [.element(index)] + $0 }
      }
    default: []
    }
  }

  /// The path as in errors.
  static func text(_ path: [Step]) -> String {
    path.reduce(into: "$") { text, step in
      switch step {
      case .member(let name): text += ".\(name)"
      case .element(let index): text += "[\(index)]"
      }
    }
  }

  /// Parses such a path with plain names.
  static func steps(_ path: String) -> [Step] {
    path.split { $0 == "." || $0 == "[" || $0 == "]" }.dropFirst().map { part in
      Int(part).map { .element($0) } ?? .member(String(part))
    }
  }

  static func value(_ value: JSONValue, at path: [Step]) -> JSONValue? {
    path.reduce(value) { value, step in
      switch step {
      case .member(let name): value?[name]
      case .element(let index): value?.array?[index]
      }
    }
  }

  /// The document with another value at the path; without that value if it is `nil`.
  static func replacing(_ value: JSONValue, at path: some Collection<Step>, with new: JSONValue?) -> JSONValue
  {
    guard let step = path.first else { return new ?? .null }
    let rest = path.dropFirst()
    switch (value, step) {
    case (.object(var members), .member(let name)):
      guard let index = members.firstIndex(where: { $0.name == name }) else {
        if let new, rest.isEmpty { members.append(JSONMember(name: name, value: new)) }
        return .object(members)
      }
      if rest.isEmpty, new == nil {
        members.remove(at: index)
      } else {
        members[index].value = replacing(members[index].value, at: rest, with: new)
      }
      return .object(members)
    case (.array(var elements), .element(let index)):
      if rest.isEmpty, new == nil {
        elements.remove(at: index)
      } else {
        elements[index] = replacing(elements[index], at: rest, with: new)
      }
      return .array(elements)
    default: return value
    }
  }

  /// A value of every other type.
  static func otherTypes(than value: JSONValue) -> [JSONValue] {
    let all: [JSONValue] = [.bool(true), .integer(1), .string("?"), .array([]), .object([])]
    return all.filter { kind($0) != kind(value) }
  }

  private static func kind(_ value: JSONValue) -> Int {
    switch value {
    case .null: 0
    case .bool: 1
    case .number: 2
    case .string: 3
    case .array: 4
    case .object: 5
    }
  }
}
