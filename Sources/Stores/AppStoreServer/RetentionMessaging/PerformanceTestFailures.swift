// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The failed requests of a performance test, counted by result (`failures`).
///
/// On the wire it is a JSON object whose names are ``SendAttemptResult``s.
public struct PerformanceTestFailures: Sendable, Hashable {
  /// The number of requests with each result.
  public var counts: [SendAttemptResult: Int64]

  package init(counts: [SendAttemptResult: Int64] = [:]) { self.counts = counts }
}

extension PerformanceTestFailures: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    self.init()
    guard let members = try JSONValue(from: &json).object else {
      throw MalformedReceipt(.wrongType, at: .jsonPath("$.failures"), "The failures are not an object.")
    }
    for member in members {
      guard let count = member.value.int64 else {
        throw MalformedReceipt(.wrongType, at: .jsonPath("$.failures"), "A count is not an integer.")
      }
      counts[SendAttemptResult(rawValue: member.name)] = count
    }
  }

  package func write(to json: inout JSONWriter) {
    let sorted = counts.sorted { $0.key.rawValue < $1.key.rawValue }
    json.value(.object(sorted.map { JSONMember(name: $0.key.rawValue, value: .integer($0.value)) }))
  }
}
