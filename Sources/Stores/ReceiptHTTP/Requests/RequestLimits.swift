// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The body of a request, checked against documented limits before it is sent. The types, and the checks of single
/// fields, are generated from the tables in `WireTypes/`.
package protocol WireRequest: JSONObject, Sendable {
  /// Checks each field, and the fields of nested objects.
  func checkFields(_ limits: inout RequestLimits, at place: String)
  /// Checks the rules that involve several fields.
  func checkRules(_ limits: inout RequestLimits)
}

extension WireRequest {
  package func checkFields(_ limits: inout RequestLimits, at place: String) {}
  package func checkRules(_ limits: inout RequestLimits) {}
}

/// Collects the first documented limit that a request breaks.
package struct RequestLimits: Sendable {
  package struct Violation: Error, Sendable {
    package let place: String
    package let message: String
  }

  package private(set) var violation: Violation?

  package init() {}

  package mutating func require(_ isMet: Bool, at place: String, _ message: @autoclosure () -> String) {
    if !isMet, violation == nil { violation = Violation(place: place, message: message()) }
  }

  package mutating func requireUUID(_ text: UUIDString?, at place: String) {
    require(text.map { $0.uuid != nil } ?? true, at: place, "It must be a UUID.")
  }

  package mutating func requireUUIDOrEmpty(_ text: UUIDString?, at place: String) {
    if text?.rawValue.isEmpty == false { requireUUID(text, at: place) }
  }

  package mutating func requireCount(_ text: String?, atMost limit: Int, at place: String) {
    let count = text?.count ?? 0
    require(count <= limit, at: place, "It has \(count) characters; at most \(limit) are allowed.")
  }

  package mutating func requireCount<Element>(_ elements: [Element]?, atMost limit: Int, at place: String) {
    let count = elements?.count ?? 0
    require(count <= limit, at: place, "There are \(count); at most \(limit) are allowed.")
  }

  package mutating func requireValue(_ value: Int64?, in range: ClosedRange<Int64>, at place: String) {
    guard let value else { return }
    require(
      range.contains(value), at: place,
      "It must be \(range.lowerBound) to \(range.upperBound), not \(value).")
  }

  package mutating func requireNotEmpty(_ text: String?, at place: String) {
    require(text?.isEmpty != true, at: place, "It must not be empty.")
  }

  package mutating func requireNotEmpty<Element>(_ elements: [Element]?, at place: String) {
    require(elements?.isEmpty != true, at: place, "It must not be empty; leave it out instead.")
  }
}
