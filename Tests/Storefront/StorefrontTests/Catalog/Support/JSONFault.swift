// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Storefront
import Testing

/// A change to a sample, and the error that it must give.
struct JSONFault: Sendable, CustomTestStringConvertible {
  let path: [JSONEdit.Step]
  let value: JSONValue?
  let code: CatalogError.Code
  /// The path in the error.
  let place: String

  /// Replaces or removes the value at the path. The error is reported there, unless another path is given.
  init(_ path: String, _ value: JSONValue?, _ code: CatalogError.Code, at place: String? = nil) {
    self.path = JSONEdit.steps(path)
    self.value = value
    self.code = code
    self.place = place ?? path
  }

  var testDescription: String { "\(JSONEdit.text(path)) → \(code.rawValue)" }
}
