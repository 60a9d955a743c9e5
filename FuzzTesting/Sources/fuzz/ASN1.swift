// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// ASN.1 values, met without a container around them: the attribute set of an app receipt.
func fuzzASN1(_ bytes: [UInt8]) {
  guard var payload = try? AppReceiptPayload(decoding: bytes[...]) else { return }
  require(payload.encoded() == bytes, "decoding changed the bytes")

  // Setting a field makes the writer spell everything anew, sorted; what it says must stay the same.
  let version = payload.applicationVersion
  payload.applicationVersion = version
  let rewritten = payload.encoded()
  let again = mustSucceed("what was written does not parse") {
    try AppReceiptPayload(decoding: rewritten[...])
  }
  require(again.bundleId == payload.bundleId, "the bundle changed")
  require(again.environment == payload.environment, "the environment changed")
  require(again.receiptCreationDate == payload.receiptCreationDate, "the creation date changed")
  require(counted(again.transactions) == counted(payload.transactions), "the transactions changed")
}

private func counted(_ transactions: [Transaction]) -> [Transaction: Int] {
  transactions.reduce(into: [:]) { $0[$1, default: 0] += 1 }
}
