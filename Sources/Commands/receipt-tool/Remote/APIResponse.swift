// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// Prints a store's response: unchanged, for programs that know the store's formats, or with `--json` as a member of an
/// output object.
///
/// The response cannot be an output object itself, because the stores use members `type` and `version` of their own.
struct APIResponse {
  /// Method and path.
  let endpoint: String
  /// A JSON value.
  let body: [UInt8]

  func write(json: Bool) throws {
    guard json else { return try writeAll(body + [0x0A]) }
    var object = JSONWriter(.apiResponse)
    object.member("endpoint", endpoint)
    object.name("response")
    do throws(MalformedReceipt) {
      object.value(try JSONValue(parsing: body, limits: ReceiptLimits(maximumByteCount: body.count)))
    } catch {
      throw ToolExit.failure(ToolExit.undetermined, "the answer is no JSON: \(error)")
    }
    try writeLine(object)
  }
}
