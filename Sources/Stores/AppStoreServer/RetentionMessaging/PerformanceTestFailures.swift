// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// How many requests of a performance test failed in which way (`failures`): a JSON object whose names are
/// ``SendAttemptResult``s.
public struct PerformanceTestFailures: Sendable, Hashable {
  /// The number of requests for each way to fail.
  public var counts: [SendAttemptResult: Int64]

  /// Creates one from its counts.
  public init(counts: [SendAttemptResult: Int64] = [:]) { self.counts = counts }
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
