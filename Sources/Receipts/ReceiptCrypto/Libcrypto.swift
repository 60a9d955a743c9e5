// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Access to libcrypto, and to its errors.
package enum Libcrypto {
  /// The version of libcrypto at run time, such as `3.0.19`.
  package static var version: String {
    unsafe OpenSSL_version(OPENSSL_VERSION_STRING).map { unsafe String(cString: $0) } ?? "unknown"
  }

  /// Initializes libcrypto for a process that belongs to others: without its configuration, which the environment variable
  /// `OPENSSL_CONF` would name, and without a handler at the process's exit, when threads may still use it. It has no effect
  /// on a libcrypto that was used before.
  package static func initializeForForeignProcess() {
    _ = OPENSSL_init_crypto(
      UInt64(OPENSSL_INIT_NO_LOAD_CONFIG) | UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }

  /// Asks libcrypto a question, and asks again if it rejects the input: it also does so if it cannot allocate memory.
  static func confirming<Answer>(_ ask: () throws(CryptoError) -> Answer?) throws(CryptoError) -> Answer? {
    if let answer = try ask() { return answer }
    if let answer = try ask() { return answer }
    guard canAllocate else { throw outOfMemory }
    return nil
  }

  /// Asks libcrypto a question, and asks again if it refuses: it also refuses if it cannot allocate memory.
  static func confirmingRefusal<Value, Failure: Error>(
    orThrow outOfMemory: Failure, _ ask: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    do throws(Failure) { return try ask() } catch {
      do throws(Failure) { return try ask() } catch {
        guard canAllocate else { throw outOfMemory }
        throw error
      }
    }
  }

  /// Returns `true` if libcrypto finds that a signature matches. Some failures to allocate memory cannot be
  /// distinguished from a mismatch.
  static func matches(_ ask: () -> Int32) throws(CryptoError) -> Bool {
    ErrorQueue.clear()
    if ask() == 1 { return true }
    let errors = ErrorQueue.drain()
    guard !ErrorQueue.isInability(errors) else {
      throw CryptoError(.internalFailure, "libcrypto could not check a signature.", openSSLErrors: errors)
    }
    return false
  }

  /// The error to throw if libcrypto cannot allocate memory.
  static let outOfMemory = CryptoError(.internalFailure, "libcrypto could not allocate memory.")

  private static var canAllocate: Bool {
    let probe = unsafe CRYPTO_malloc(4096, nil, 0)
    unsafe CRYPTO_free(probe, nil, 0)
    return unsafe probe != nil
  }
}
