// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import ReceiptVerification

/// Data with a signature beside it. The first byte says what the rest is: 0 a receipt in any wrapping; 1 data alone; 2
/// data that stands beside a genuine signature, so that its damage is explained; 3 flipped bits of a genuine receipt.
func fuzzDetached(_ bytes: [UInt8]) {
  guard let mode = bytes.first else { return }
  let rest = Array(bytes.dropFirst())
  switch mode % 4 {
  case 0: read(rest)
  case 1: decode(rest)
  case 2:
    guard let text = String(validating: rest, as: UTF8.self), rest != Genuine.receipt.signedBytes else {
      return
    }
    let receipt = JSONValue.object([
      JSONMember(name: "data", value: .string(text)),
      JSONMember(name: "signature", value: .string(Genuine.signature)),
    ])
    require(
      Genuine.verifier.verify(receipt.encoded()).receipt == nil, "other data than was signed is accepted")
  default:
    var receipt = Genuine.receipt.encoded
    for (index, byte) in rest.prefix(8).enumerated() {
      receipt[(index * 251 + Int(byte) * 7) % receipt.count] ^= 1 << (byte % 8)
    }
    guard case .valid(let verified) = Genuine.verifier.verify(receipt) else { return }
    require(
      Array(verified.signedContent) == Genuine.receipt.signedBytes,
      "a changed receipt is accepted as another one")
  }
}

/// Requires that a receipt that can be read is written so that it reads the same.
private func read(_ bytes: [UInt8]) {
  guard case .detached(let receipt)? = try? UnverifiedReceipt(parsing: bytes) else { return }
  let again = mustSucceed("what was unwrapped does not parse") {
    try UnverifiedDetachedReceipt(parsing: receipt.encoded)
  }
  require(again.signedBytes == receipt.signedBytes, "the data changed")
  require(again.signature == receipt.signature, "the signature changed")
  require(again.statedAlgorithm == receipt.statedAlgorithm, "the algorithm changed")
  decode(receipt.signedBytes)
  // The vectors among the seeds are signed with the key that the policy has: OpenSSL's own call must agree.
  guard Genuine.verifier.verify(bytes).receipt != nil else { return }
  let isSigned = [(DigestAlgorithm.sha1, false), (.sha256, false), (.sha256, true)].contains {
    digest, isPSS in
    SignatureReference.isValidSignature(
      receipt.signature, for: receipt.signedBytes, digest: digest, key: Genuine.key, isPSS: isPSS)
  }
  require(isSigned, "a forged receipt is accepted")
}

/// Requires that content that can be decoded is encoded so that it decodes to the same.
private func decode(_ bytes: [UInt8]) {
  guard let content = try? DetachedContent(decoding: bytes) else { return }
  _ = content.transactions
  let again = mustSucceed("what was written does not decode") {
    try DetachedContent(decoding: content.encoded(), store: content.store)
  }
  require(again == content, "the content changed")
}

private enum Genuine {
  static let receipt = mustSucceed("the sample cannot be made") {
    try UnverifiedDetachedReceipt(
      parsing: TestReceipts().googlePlayPurchase { $0.developerPayload = "{\"a/b\":\"<é>\"}" })
  }

  static let key = mustSucceed("the sample has no key") { try TestKeys.app().publicKey }

  static let signature = mustSucceed("the sample has no signature") {
    guard let text = try JSONValue(parsing: receipt.encoded)["signature"]?.string else { throw NoSignature() }
    return text
  }

  static let verifier = mustSucceed("the verifier cannot be made") {
    var policy = VerificationPolicy(bundleIds: .any, environments: [.production, .sandbox])
    policy.appKeys = try TestReceipts.appKeys()
    return ReceiptVerifier(trust: TrustAnchors(), policy: policy)
  }

  struct NoSignature: Error {}
}
