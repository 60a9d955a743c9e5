// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification

/// The whole verifier. The first byte says what the rest is:
/// - 0: a receipt as it comes, for verifiers with strict and with lax policies;
/// - 1, 2, 3: the payload of a JWS, the content of an app receipt, the purchase-info of a transaction receipt,
///   which a trusted identity signs, so that what lies behind the signature check is reached too;
/// - 4, 5, 6: changes to a valid receipt of these three kinds, three bytes each: where (two bytes) and what
///   to flip there. Whatever still is valid must say what was signed.
func fuzzVerify(_ bytes: [UInt8]) {
  guard let mode = bytes.first else { return }
  let rest = Array(bytes.dropFirst())
  switch mode {
  case 0:
    for verifier in Verifiers.forAnything { check(verifier.verify(rest)) }
  case 1: check(Verifiers.own.verify(SignedReceipts.jws(payload: rest)))
  case 2: check(Verifiers.own.verify(SignedReceipts.appReceipt(content: rest)))
  case 3:
    if let receipt = SignedReceipts.transactionReceipt(purchaseInfo: rest) {
      check(Verifiers.own.verify(receipt))
    }
  case 4: checkFlips(rest, of: SignedReceipts.validJWS)
  case 5: checkFlips(rest, of: SignedReceipts.validAppReceipt)
  case 6: checkFlips(rest, of: SignedReceipts.validTransactionReceipt)
  default: break
  }
}

/// A verdict can be read, and what it says of itself agrees.
private func check(_ verdict: Verdict) {
  switch verdict {
  case .valid(let receipt):
    require(verdict.reason == nil, "a valid receipt has a reason")
    require(receipt.signer.sha256.utf8.count == 64, "the signer has no fingerprint")
    _ = receipt.transactions
  case .invalid, .undetermined:
    require(verdict.receipt == nil, "a receipt that is not valid is handed out")
    require(verdict.reason?.message.isEmpty == false, "there is no reason")
  }
}

private func checkFlips(_ flips: [UInt8], of genuine: [UInt8]) {
  var altered = genuine
  for start in stride(from: 0, to: flips.count - 2, by: 3) {
    let position = (Int(flips[start]) << 8 | Int(flips[start + 1])) % altered.count
    altered[position] ^= flips[start + 2]
  }
  guard case .valid(let receipt) = Verifiers.own.verify(altered) else { return }
  guard case .valid(let expected) = Verifiers.own.verify(genuine) else {
    fatalError("the sample is not valid")
  }
  require(receipt.content == expected.content, "an altered receipt is valid with other content")
  require(receipt.signer == expected.signer, "an altered receipt is valid with another signer")
  require(receipt.signedAt == expected.signedAt, "an altered receipt is valid with another date")
}
