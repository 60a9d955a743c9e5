// SPDX-License-Identifier: Apache-2.0

import FuzzSupport
import ReceiptCodec

/// Recognition: any bytes, in any of the wrappings that receipts come in.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = input(start, count)
  guard let receipt = try? UnverifiedReceipt(parsing: bytes) else { return 0 }
  _ = try? receipt.kind()

  // What was found inside is a receipt by itself, and the same one.
  let inner: [UInt8] =
    switch receipt {
    case .jws(let jws): jws.compact
    case .appReceipt(let appReceipt): appReceipt.encoded
    case .transactionReceipt(let transactionReceipt): transactionReceipt.encoded
    }
  let again = mustSucceed("what was unwrapped is not recognized") { try UnverifiedReceipt(parsing: inner) }
  require(again == receipt, "what was unwrapped is another receipt")
  return 0
}
