// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Storefront
import Testing

/// A change to a sample, and the error that it must give.
struct JSONFault: Sendable, CustomTestStringConvertible {
  let path: [JSONEdit.Step]
  let value: JSONValue?
  let code: CatalogError.Code
  /// Where it is reported.
  let place: String

  /// The value at the path becomes another, or nothing; the fault is reported there unless it is said where.
  init(_ path: String, _ value: JSONValue?, _ code: CatalogError.Code, at place: String? = nil) {
    self.path = JSONEdit.steps(path)
    self.value = value
    self.code = code
    self.place = place ?? path
  }

  var testDescription: String { "\(JSONEdit.text(path)) → \(code.rawValue)" }
}
