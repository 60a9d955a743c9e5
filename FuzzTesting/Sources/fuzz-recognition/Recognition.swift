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
  let inner: [UInt8]
  switch receipt {
  case .jws(let jws):
    // Text that begins with 0 is taken for DER, unless white space is before it. No header begins so.
    guard (try? jws.header()) != nil else { return 0 }
    inner = jws.compact
  case .appReceipt(let appReceipt): inner = appReceipt.encoded
  case .transactionReceipt(let transactionReceipt): inner = transactionReceipt.encoded
  case .detached(let detached): inner = detached.encoded
  }
  let again = mustSucceed("what was unwrapped is not recognized") { try UnverifiedReceipt(parsing: inner) }
  require(again == receipt, "what was unwrapped is another receipt")
  return 0
}
