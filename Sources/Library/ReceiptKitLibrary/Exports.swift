// SPDX-License-Identifier: Apache-2.0

public import CReceiptKit
internal import CommandOutput
internal import PolicyDocuments
internal import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptVerification

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#else
  internal import Darwin
#endif

// The functions of receiptkit.h, which documents them.

/// The version of the interface. See `receiptkit.h`.
@c @implementation public func receiptkit_abi_version() -> UInt32 { UInt32(RECEIPTKIT_ABI_VERSION) }

/// The object `version`. See `receiptkit.h`.
@c @implementation public func receiptkit_version(_ result: UnsafeMutablePointer<receiptkit_text>?) -> Int32 {
  unsafe perform(result) { Calls.version() }
}

/// Creates a verifier from a policy. See `receiptkit.h`.
@c @implementation public func receiptkit_verifier_create(
  _ policy: UnsafePointer<CChar>?, _ policy_length: Int, _ verifier: UnsafeMutablePointer<receiptkit_handle>?,
  _ result: UnsafeMutablePointer<receiptkit_text>?
) -> Int32 {
  unsafe create(verifier, "verifier", result) { () throws(DocumentError) in
    try Calls.createVerifier(
      unsafe CallerMemory.argument(policy, policy_length, "policy", limit: Calls.longestDocument))
  }
}

/// Verifies a receipt. See `receiptkit.h`.
@c @implementation public func receiptkit_verify(
  _ verifier: receiptkit_handle, _ receipt: UnsafeRawPointer?, _ receipt_length: Int,
  _ result: UnsafeMutablePointer<receiptkit_text>?
) -> Int32 {
  unsafe perform(result) { () throws(DocumentError) in
    let verifier = try Handles.verifier(verifier)
    return Calls.verify(
      try unsafe CallerMemory.argument(
        receipt, receipt_length, "receipt", limit: verifier.limits.maximumByteCount), with: verifier)
  }
}

/// Verifies receipts on all processors. See `receiptkit.h`.
@c @implementation public func receiptkit_verify_batch(
  _ verifier: receiptkit_handle, _ receipts: UnsafeRawPointer?, _ offsets: UnsafePointer<UInt64>?,
  _ count: Int,
  _ statuses: UnsafeMutablePointer<UInt8>?, _ result: UnsafeMutablePointer<receiptkit_text>?
) -> Int32 {
  var batch: BatchCall?
  let status = unsafe perform(result) { () throws(DocumentError) in
    batch = try unsafe BatchCall(Handles.verifier(verifier), receipts, offsets, count: count)
    return CallResult()
  }
  guard let batch else { return status }
  // Its threads let a fork through after each chunk, and so must this one.
  batch.run()
  return unsafe perform(result) {
    if let statuses = unsafe statuses {
      for (index, status) in batch.statuses.enumerated() { unsafe statuses[index] = status }
    }
    return CallResult(pieces: batch.pieces)
  }
}

/// Verifies a receipt and returns its payload. See `receiptkit.h`.
@c @implementation public func receiptkit_payload(
  _ verifier: receiptkit_handle, _ receipt: UnsafeRawPointer?, _ receipt_length: Int,
  _ result: UnsafeMutablePointer<receiptkit_text>?
) -> Int32 {
  unsafe perform(result) { () throws(DocumentError) in
    let verifier = try Handles.verifier(verifier)
    return try Calls.payload(
      of: try unsafe CallerMemory.argument(
        receipt, receipt_length, "receipt", limit: verifier.limits.maximumByteCount), by: verifier)
  }
}

/// Returns the unverified contents of a receipt. See `receiptkit.h`.
@c @implementation public func receiptkit_inspect(
  _ receipt: UnsafeRawPointer?, _ receipt_length: Int, _ options: UInt32,
  _ result: UnsafeMutablePointer<receiptkit_text>?
) -> Int32 {
  unsafe perform(result) { () throws(DocumentError) in
    guard options & ~RECEIPTKIT_INSPECT_REDACTED == 0 else {
      throw DocumentError(.usage, "There is no option \(options & ~RECEIPTKIT_INSPECT_REDACTED).")
    }
    return try Calls.inspect(
      try unsafe CallerMemory.argument(
        receipt, receipt_length, "receipt", limit: ReceiptLimits.standard.maximumByteCount),
      redacting: options & RECEIPTKIT_INSPECT_REDACTED != 0)
  }
}

/// Creates a signer from a private key with its certificates. See `receiptkit.h`.
@c @implementation public func receiptkit_signer_create(
  _ identity: UnsafePointer<CChar>?, _ identity_length: Int,
  _ signer: UnsafeMutablePointer<receiptkit_handle>?,
  _ result: UnsafeMutablePointer<receiptkit_text>?
) -> Int32 {
  unsafe create(signer, "signer", result) { () throws(DocumentError) in
    try Calls.createSigner(
      unsafe CallerMemory.argument(identity, identity_length, "identity", limit: Calls.longestDocument))
  }
}

/// Signs a receipt. See `receiptkit.h`.
@c @implementation public func receiptkit_sign(
  _ signer: receiptkit_handle, _ request: UnsafePointer<CChar>?, _ request_length: Int,
  _ result: UnsafeMutablePointer<receiptkit_text>?
) -> Int32 {
  unsafe perform(result) { () throws(DocumentError) in
    try Calls.sign(
      unsafe CallerMemory.argument(request, request_length, "request", limit: Calls.longestDocument),
      with: Handles.signer(signer))
  }
}

/// Checks that a proof proves its entry. See `receiptkit.h`.
@c @implementation public func receiptkit_check_proof(
  _ proof: UnsafeRawPointer?, _ proof_length: Int, _ request: UnsafePointer<CChar>?, _ request_length: Int,
  _ result: UnsafeMutablePointer<receiptkit_text>?
) -> Int32 {
  unsafe perform(result) { () throws(DocumentError) in
    try Calls.check(
      proof: unsafe CallerMemory.argument(proof, proof_length, "proof", limit: Calls.longestDocument),
      unsafe CallerMemory.argument(request, request_length, "request", limit: Calls.longestDocument))
  }
}

/// Frees a verifier or a signer. See `receiptkit.h`.
@c @implementation public func receiptkit_handle_free(_ handle: receiptkit_handle) -> Int32 {
  receiptkit_work_begin()
  defer { receiptkit_work_end() }
  do throws(DocumentError) {
    try Handles.remove(handle)
    return ExitStatus.done.rawValue
  } catch {
    return error.status.rawValue
  }
}

/// Frees a text and empties it. See `receiptkit.h`.
@c @implementation public func receiptkit_text_free(_ text: UnsafeMutablePointer<receiptkit_text>?) {
  guard let text = unsafe text else { return }
  unsafe free(text.pointee.bytes)
  unsafe text.pointee = receiptkit_text()
}

/// Initializes libcrypto at the first use.
private let initialized: Void = Libcrypto.initializeForForeignProcess()

/// Makes a call, and gives its text or its error to the caller.
private func perform(
  _ result: UnsafeMutablePointer<receiptkit_text>?, _ call: () throws(DocumentError) -> CallResult
) -> Int32 {
  guard let result = unsafe result else { return ExitStatus.usage.rawValue }
  unsafe result.pointee = receiptkit_text()
  receiptkit_work_begin()
  defer { receiptkit_work_end() }
  _ = initialized
  var answer: CallResult
  do throws(DocumentError) { answer = try call() } catch {
    answer = CallResult(status: error.status, text: error.json)
  }
  guard unsafe CallerMemory.give(answer.pieces, to: result) else { return ExitStatus.internalFault.rawValue }
  return answer.status.rawValue
}

/// Makes a call that creates a verifier or a signer.
private func create(
  _ handle: UnsafeMutablePointer<receiptkit_handle>?, _ name: String,
  _ result: UnsafeMutablePointer<receiptkit_text>?, _ call: () throws(DocumentError) -> UInt64
) -> Int32 {
  unsafe perform(result) { () throws(DocumentError) in
    guard let handle = unsafe handle else { throw DocumentError(.usage, "\(name) is NULL.") }
    unsafe handle.pointee = 0
    unsafe handle.pointee = try call()
    return CallResult()
  }
}
