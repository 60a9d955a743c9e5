// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// Transaction receipts: the outer property list, the signature's layout, the inner property list.
func fuzzTransactionReceipt(_ bytes: [UInt8]) {
  if let list = try? PropertyList(parsing: bytes) {
    let again = mustSucceed("the list that was written does not parse") {
      try PropertyList(parsing: list.encoded())
    }
    require(again == list, "the list changed")
  }
  if let info = try? TransactionReceiptPurchaseInfo(decoding: bytes) { checkRoundTrip(info) }
  if let receipt = try? UnverifiedTransactionReceipt(parsing: bytes) {
    require(receipt.encoded == bytes, "the receipt is not kept as received")
    if let info = try? receipt.decoded().content { checkRoundTrip(info) }
  }
}

private func checkRoundTrip(_ info: TransactionReceiptPurchaseInfo) {
  let again = mustSucceed("the purchase-info that was written does not parse") {
    try TransactionReceiptPurchaseInfo(decoding: info.encoded())
  }
  require(again == info, "the purchase-info changed")
}
