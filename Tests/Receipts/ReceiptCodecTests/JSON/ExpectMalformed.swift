// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Testing

/// Expects a failure with exactly this code and place.
func expectMalformed<Value>(
  _ code: MalformedReceipt.Code, at place: MalformedReceipt.Place,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws(MalformedReceipt) -> Value
) {
  do throws(MalformedReceipt) {
    _ = try body()
    Issue.record("accepted", sourceLocation: sourceLocation)
  } catch {
    #expect(error.code == code, sourceLocation: sourceLocation)
    #expect(error.place == place, sourceLocation: sourceLocation)
    #expect(!error.message.isEmpty, sourceLocation: sourceLocation)
  }
}
