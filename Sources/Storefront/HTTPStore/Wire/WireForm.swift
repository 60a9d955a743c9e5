// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The JSON form of a value that others know in Swift's form.
///
/// The two are apart, so that neither the protocol nor what a program works with changes because of the other.
protocol WireForm: JSONObject, Sendable {
  associatedtype Value
  init(_ value: Value)
  var value: Value { get }
}
