// SPDX-License-Identifier: Apache-2.0

import CReceiptKit
import ReceiptCodec
import ReceiptKitLibrary
import ReceiptTesting

/// Fuzzes the C functions of libreceiptkit as a binding calls them. The first byte names the function, and the rest are its
/// arguments, with a NUL between them: 0 verify, 1 a batch of the arguments, 2 payload, 3 inspect, 4 create a verifier, 5 sign,
/// 6 check a proof, 7 create a signer.
func fuzzLibrary(_ bytes: [UInt8]) {
  guard let mode = bytes.first else { return }
  let arguments = bytes.dropFirst().split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
  let first = arguments.first ?? []
  let second = arguments.dropFirst().first ?? []
  var handle: UInt64 = 0
  let status = unsafe call { text in
    switch mode {
    case 0: unsafe receiptkit_verify(verifiers.any, first, first.count, text)
    case 1: unsafe batch(arguments, text)
    case 2: unsafe receiptkit_payload(verifiers.any, first, first.count, text)
    case 3: unsafe receiptkit_inspect(first, first.count, UInt32(first.count % 2), text)
    case 4: unsafe withText(first) { unsafe receiptkit_verifier_create($0, first.count, &handle, text) }
    case 5: unsafe withText(first) { unsafe receiptkit_sign(verifiers.signer, $0, first.count, text) }
    case 6:
      unsafe withText(second) { unsafe receiptkit_check_proof(first, first.count, $0, second.count, text) }
    default: unsafe withText(first) { unsafe receiptkit_signer_create($0, first.count, &handle, text) }
    }
  }
  if mode == 4 || mode == 7 {
    require((handle != 0) == (status == 0), "a handle without success, or success without a handle")
    require(handle == 0 || receiptkit_handle_free(handle) == 0, "the handle is not there")
  }
}

/// Makes a call, and checks what it says.
private func call(_ function: (UnsafeMutablePointer<receiptkit_text>) -> Int32) -> Int32 {
  var text = unsafe receiptkit_text()
  let status = unsafe function(&text)
  let bytes = unsafe Array(UnsafeRawBufferPointer(start: text.bytes, count: text.length))
  unsafe receiptkit_text_free(&text)
  require([0, 1, 2, 64, 66].contains(status), "the status is \(status)")
  if status >= 64 {
    let error = mustSucceed("the error is no JSON") { try JSONValue(parsing: bytes) }
    require(error["type"]?.string == "error", "the text is no error")
    require(error["exitCode"]?.int64 == Int64(status), "the status is not that of the error")
  }
  return status
}

private func batch(_ receipts: [[UInt8]], _ text: UnsafeMutablePointer<receiptkit_text>) -> Int32 {
  var offsets: [UInt64] = [0]
  for receipt in receipts { offsets.append((offsets.last ?? 0) + UInt64(receipt.count)) }
  var statuses = [UInt8](repeating: 99, count: receipts.count)
  let status = unsafe receiptkit_verify_batch(
    verifiers.any, Array(receipts.joined()), offsets, receipts.count, &statuses, text)
  require(statuses.allSatisfy { $0 <= 2 }, "a receipt has no status")
  return status
}

private func withText(_ bytes: [UInt8], _ call: (UnsafePointer<CChar>?) -> Int32) -> Int32 {
  unsafe bytes.withUnsafeBytes { unsafe call($0.assumingMemoryBound(to: CChar.self).baseAddress) }
}

private let verifiers: (any: UInt64, signer: UInt64) = {
  var verifier: UInt64 = 0
  var text = unsafe receiptkit_text()
  let policy = #"{"anyBundleId":true,"environments":["production","sandbox"]}"#
  _ = unsafe receiptkit_verifier_create(policy, policy.utf8.count, &verifier, &text)
  var signer: UInt64 = 0
  var identity = JSONWriter()
  identity.object { $0.member("privateKey", TestKeys.signerPEM) }
  let document = String(decoding: identity.bytes, as: UTF8.self)
  _ = unsafe receiptkit_signer_create(document, document.utf8.count, &signer, &text)
  require(verifier != 0 && signer != 0, "there is no verifier or no signer")
  return (verifier, signer)
}()
