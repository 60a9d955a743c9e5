// SPDX-License-Identifier: Apache-2.0

import CReceiptKit
import ReceiptCodec
import ReceiptKitLibrary

/// What a function of the library returned.
struct Outcome: Equatable {
  let status: Int32
  let text: String

  var json: JSONValue? { try? JSONValue(parsing: Array(text.utf8)) }
  /// The code, place and exit code of an object `error`.
  var code: String? { json?["code"]?.string }
  var place: String? { json?["place"]?.string }
}

/// The library by its C functions, as a binding calls it.
enum Library {
  static func call(_ function: (UnsafeMutablePointer<receiptkit_text>) -> Int32) -> Outcome {
    var text = unsafe receiptkit_text()
    let status = unsafe function(&text)
    let bytes = unsafe UnsafeRawBufferPointer(start: text.bytes, count: text.length)
    let copy = unsafe String(decoding: bytes, as: UTF8.self)
    unsafe receiptkit_text_free(&text)
    return Outcome(status: status, text: copy)
  }

  static func createVerifier(_ policy: [UInt8]) -> (UInt64, Outcome) {
    var handle: UInt64 = 77
    let outcome = unsafe call { text in
      unsafe policy.withUnsafeBytes {
        unsafe receiptkit_verifier_create(
          $0.assumingMemoryBound(to: CChar.self).baseAddress, $0.count, &handle, text)
      }
    }
    return (handle, outcome)
  }

  static func createVerifier(_ policy: String) -> (UInt64, Outcome) { createVerifier(Array(policy.utf8)) }

  static func verify(_ receipt: [UInt8], _ verifier: UInt64) -> Outcome {
    unsafe call { text in
      unsafe receipt.withUnsafeBytes { unsafe receiptkit_verify(verifier, $0.baseAddress, $0.count, text) }
    }
  }

  static func payload(_ receipt: [UInt8], _ verifier: UInt64) -> Outcome {
    unsafe call { text in
      unsafe receipt.withUnsafeBytes { unsafe receiptkit_payload(verifier, $0.baseAddress, $0.count, text) }
    }
  }

  static func verify(batch receipts: [[UInt8]], _ verifier: UInt64) -> (Outcome, [UInt8]) {
    var offsets: [UInt64] = [0]
    for receipt in receipts { offsets.append((offsets.last ?? 0) + UInt64(receipt.count)) }
    let joined = Array(receipts.joined())
    var statuses = [UInt8](repeating: 99, count: receipts.count)
    let outcome = unsafe call { text in
      unsafe joined.withUnsafeBytes {
        unsafe receiptkit_verify_batch(
          verifier, $0.baseAddress, offsets, receipts.count, &statuses, text)
      }
    }
    return (outcome, statuses)
  }

  static func inspect(_ receipt: [UInt8], _ options: UInt32 = 0) -> Outcome {
    unsafe call { text in
      unsafe receipt.withUnsafeBytes { unsafe receiptkit_inspect($0.baseAddress, $0.count, options, text) }
    }
  }

  static func createSigner(_ identity: String) -> (UInt64, Outcome) {
    var handle: UInt64 = 77
    let outcome = unsafe call {
      unsafe receiptkit_signer_create(identity, identity.utf8.count, &handle, $0)
    }
    return (handle, outcome)
  }

  static func sign(_ request: String, _ signer: UInt64) -> Outcome {
    unsafe call { unsafe receiptkit_sign(signer, request, request.utf8.count, $0) }
  }

  static func check(proof: [UInt8], _ request: String) -> Outcome {
    unsafe call { text in
      unsafe proof.withUnsafeBytes {
        unsafe receiptkit_check_proof($0.baseAddress, $0.count, request, request.utf8.count, text)
      }
    }
  }
}
