// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension SHA256Digest {
  /// The digest by which entries name a receipt: that of the receipt without base64, JSON or white space around it, so
  /// that it is the same however it was sent; of the bytes as they are where they are no receipt.
  public init(ofReceipt bytes: [UInt8]) { self.init(of: UnwrappedReceipt.bytes(bytes)) }
}

enum UnwrappedReceipt {
  /// What `VerifiedReceipt.encoded` is: the receipt without its wrapping; the bytes as they are where they are none.
  static func bytes(_ bytes: [UInt8]) -> [UInt8] {
    switch try? UnverifiedReceipt(parsing: bytes) {
    case .jws(let jws): jws.compact
    case .appReceipt(let receipt): receipt.encoded
    case .transactionReceipt(let receipt): receipt.encoded
    case nil: bytes
    }
  }
}
