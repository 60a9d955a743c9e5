// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// An object without documented members, whose presence has a meaning.
///
/// Members that it does have are kept.
///
/// ```swift
/// let isTest = purchase.testPurchase != nil
/// ```
public struct EmptyObject: Sendable, Hashable {
  /// The members, in the order found.
  package var members: [JSONMember] = []

  /// Creates an object without members.
  public init() {}
}

extension EmptyObject: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    guard let members = try JSONValue(from: &json).object else {
      throw json.fieldFailure(.wrongType, "expected an object.")
    }
    self.members = members
  }

  package func write(to json: inout JSONWriter) { json.value(.object(members)) }
}
