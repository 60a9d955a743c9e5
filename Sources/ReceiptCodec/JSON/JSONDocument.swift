// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// What recognition needs of a JSON document around a receipt.
package enum JSONDocument {
  /// The top-level members that have one of the names and a string as value, in the order of the document,
  /// which is checked in full.
  ///
  /// - Throws: ``MalformedReceipt`` as ``JSONValue/init(parsing:limits:)`` does; `.wrongType` at `$` if it is
  ///   not an object.
  package static func stringMembers(
    named names: [String], in bytes: [UInt8], limits: ReceiptLimits = .standard
  ) throws(MalformedReceipt) -> [(name: String, value: String)] {
    guard let members = try JSONValue(parsing: bytes, limits: limits).object else {
      throw MalformedReceipt(.wrongType, at: .jsonPath("$"), "The JSON document is not an object.")
    }
    return members.compactMap { member in
      guard let value = member.value.string, names.contains(where: { UTF8Text.isIdentical($0, member.name) })
      else { return nil }
      return (member.name, value)
    }
  }
}
