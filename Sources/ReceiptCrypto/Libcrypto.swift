// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The library underneath.
package enum Libcrypto {
  /// Its version at run time, for example `3.0.19`.
  package static var version: String {
    unsafe OpenSSL_version(OPENSSL_VERSION_STRING).map { unsafe String(cString: $0) } ?? "unknown"
  }

  /// Asks libcrypto a question to which want of memory gives the same answer as a bad input: a refusal counts only
  /// when it is given twice, and libcrypto can allocate.
  ///
  /// - Parameter ask: Asks the question; `nil` is the refusal.
  /// - Returns: The answer, or `nil` for a refusal that counts.
  /// - Throws: ``CryptoError/Code/internalFailure`` where memory is wanting.
  static func confirming<Answer>(_ ask: () throws(CryptoError) -> Answer?) throws(CryptoError) -> Answer? {
    if let answer = try ask() { return answer }
    if let answer = try ask() { return answer }
    guard canAllocate else { throw outOfMemory }
    return nil
  }

  /// Reads or checks something, of which a refusal counts only when it is given twice, and libcrypto can allocate.
  ///
  /// - Parameters:
  ///   - outOfMemory: What is thrown where memory is wanting.
  ///   - ask: Reads or checks it.
  /// - Returns: What `ask` returns.
  /// - Throws: A refusal that counts, or `outOfMemory`.
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

  /// Whether libcrypto finds that a signature matches.
  ///
  /// - Parameter ask: Asks libcrypto: 1 says that it matches, anything else that it does not, or that libcrypto failed.
  /// - Returns: Whether it matches.
  /// - Throws: ``CryptoError/Code/internalFailure`` where libcrypto could not compute the answer.
  static func matches(_ ask: () -> Int32) throws(CryptoError) -> Bool {
    defer { ErrorQueue.clear() }
    var errors: [OpenSSLError] = []
    let isMatch = try confirming { () -> Bool? in
      ErrorQueue.clear()
      if ask() == 1 { return true }
      errors = ErrorQueue.drain()
      return nil
    }
    if isMatch == true { return true }
    guard !ErrorQueue.isInability(errors) else {
      throw CryptoError(.internalFailure, "libcrypto could not check a signature.", openSSLErrors: errors)
    }
    return false
  }

  /// What is thrown where memory is wanting.
  static let outOfMemory = CryptoError(.internalFailure, "libcrypto could not allocate memory.")

  private static var canAllocate: Bool {
    let probe = unsafe CRYPTO_malloc(4096, nil, 0)
    unsafe CRYPTO_free(probe, nil, 0)
    return unsafe probe != nil
  }
}
