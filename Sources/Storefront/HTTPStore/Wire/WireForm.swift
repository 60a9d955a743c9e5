// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The JSON form of a public Swift type.
///
/// Two types, so that the protocol and the public API can change independently.
protocol WireForm: JSONObject, Sendable {
  associatedtype Value
  init(_ value: Value)
  var value: Value { get }
}
