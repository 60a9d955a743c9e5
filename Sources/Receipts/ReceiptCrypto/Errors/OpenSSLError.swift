// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// An entry of OpenSSL's error queue.
package struct OpenSSLError: Sendable, Hashable, CustomStringConvertible {
  /// The packed error code, which `openssl errstr` accepts in hexadecimal.
  package let code: UInt
  /// The part of OpenSSL that reported the error, such as "asn1 encoding routines".
  package let library: String
  /// The reason, such as "wrong tag".
  package let reason: String

  package var description: String { library.isEmpty ? reason : "\(library): \(reason)" }

  init(code: UInt) {
    self.code = code
    self.library = unsafe ERR_lib_error_string(code).map { unsafe String(cString: $0) } ?? ""
    self.reason =
      unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }
}

/// The error queue of the calling thread. A caller clears it before a call and drains it after a failure, within one
/// synchronous function, because the queue belongs to the thread and not to the task.
enum ErrorQueue {
  static func clear() { ERR_clear_error() }

  static func drain() -> [OpenSSLError] {
    var errors: [OpenSSLError] = []
    while true {
      let code = ERR_get_error()
      if code == 0 { return errors }
      errors.append(OpenSSLError(code: UInt(code)))
    }
  }

  /// Returns `true` if the errors mean that OpenSSL rejected the input.
  static func isRefusal(_ errors: [OpenSSLError]) -> Bool {
    errors.contains { COpenSSL_ERR_is_refusal($0.code) == 1 } && !isInability(errors)
  }

  /// Returns `true` if the errors mean that OpenSSL could not compute the result, whether the input is valid or not.
  static func isInability(_ errors: [OpenSSLError]) -> Bool {
    errors.contains { COpenSSL_ERR_is_inability($0.code) == 1 }
  }

  /// Returns the error to throw if a signature could not be verified.
  static func inability(_ errors: [OpenSSLError], digest: DigestAlgorithm) -> CryptoError {
    let policy =
      digest == .sha1
      ? " The system's policy may forbid signatures with SHA-1 (rh-allow-sha1-signatures on RHEL and its kin: "
        + "update-crypto-policies --set DEFAULT:SHA1)." : ""
    return CryptoError(
      .internalFailure, "libcrypto could not check a signature with \(digest.rawValue).\(policy)",
      openSSLErrors: errors)
  }

  static func error(_ code: CryptoError.Code, _ message: String) -> CryptoError {
    CryptoError(code, message, openSSLErrors: drain())
  }
}
