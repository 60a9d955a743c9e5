// SPDX-License-Identifier: Apache-2.0

/// Verifies signatures of one P-256 key several times faster than the ordinary call. It uses tables of the key's
/// multiples that OpenSSL computes. Its results equal those of ``PublicKey/isValidSignature(_:forDigest:using:)`` with
/// ``SignatureAlgorithm/ecdsaP256SHA256``, which it calls if OpenSSL fails. Its time depends on the signature, the
/// digest and the key, which are all public. Any number of threads may use a verifier at the same time.
package final class FixedKeyVerifier: Sendable {
  package static let signatureByteCount = 64
  package static let digestByteCount = 32

  /// The verifier's memory in bytes, rounded up, without the key, which it shares.
  package var byteCount: Int { table == nil ? 0 : FixedKeyTable.byteCount }

  private let key: PublicKey
  private let table: FixedKeyTable?

  /// Creates the table of a key. That takes as long as some hundreds of ordinary verifications, so create one only for
  /// a key that has been verified and is used that often. Returns `nil` if ``isAvailable`` is `false`, the key is not a
  /// valid P-256 key, or OpenSSL fails.
  package convenience init?(_ key: PublicKey) {
    guard Self.isAvailable, let table = FixedKeyTable(key) else { return nil }
    self.init(key, table: table)
  }

  /// Creates a verifier without a table, which always uses the ordinary call. For tests.
  package convenience init(failingFor key: PublicKey) { self.init(key, table: nil) }

  /// Creates a verifier for the check that determines ``isAvailable``.
  init(_ key: PublicKey, table: FixedKeyTable?) {
    self.key = key
    self.table = table
  }

  /// Returns `true` if `signature`, 64 bytes r ‖ s, is the key's signature of the message with this SHA-256 digest.
  /// Returns `false` if either has another length.
  package func isValid(_ signature: Span<UInt8>, forDigest digest: Span<UInt8>) throws(CryptoError) -> Bool {
    guard signature.count == Self.signatureByteCount, digest.count == Self.digestByteCount else {
      return false
    }
    var isValid = false
    let isDone = unsafe withUnsafeMutablePointer(to: &isValid) { answer in
      unsafe verifyByTable(signature, digest, into: UnsafeMutableBufferPointer(start: answer, count: 1))
    }
    if isDone { return isValid }
    return try key.isValidSignature(signature, forDigest: digest, using: .ecdsaP256SHA256)
  }

  /// Returns `true` if `signature`, 64 bytes r ‖ s, is the key's signature of the message with this SHA-256 digest.
  package func isValid(_ signature: Span<UInt8>, forDigest digest: SHA256Digest) throws(CryptoError) -> Bool {
    let result = digest.withBytes { digest in
      Result { () throws(CryptoError) in try isValid(signature, forDigest: digest) }
    }
    return try result.get()
  }

  /// Verifies several signatures, each with the digest at the same index. It is somewhat faster than verifying them one
  /// by one. Each answer depends only on its own signature.
  package func validities(
    signatures: Span<UInt8>, digests: Span<UInt8>, count: Int
  ) throws(CryptoError) -> [Bool] {
    guard count > 0 else { return [] }
    var answers = [Bool](repeating: false, count: count)
    let (signaturesLength, overflow) = count.multipliedReportingOverflow(by: Self.signatureByteCount)
    guard !overflow, signatures.count == signaturesLength, digests.count == count * Self.digestByteCount
    else { return answers }
    for start in stride(from: 0, to: count, by: FixedKeyScratch.capacity) {
      let end = min(start + FixedKeyScratch.capacity, count)
      let signatures = signatures.extracting(start * Self.signatureByteCount..<end * Self.signatureByteCount)
      let digests = digests.extracting(start * Self.digestByteCount..<end * Self.digestByteCount)
      let isDone = unsafe answers.withUnsafeMutableBufferPointer { answers in
        unsafe verifyByTable(
          signatures, digests, into: UnsafeMutableBufferPointer(rebasing: answers[start..<end]))
      }
      if isDone { continue }
      for index in start..<end {
        let offset = index - start
        answers[index] = try key.isValidSignature(
          signatures.extracting(offset * Self.signatureByteCount..<(offset + 1) * Self.signatureByteCount),
          forDigest: digests.extracting(offset * Self.digestByteCount..<(offset + 1) * Self.digestByteCount),
          using: .ecdsaP256SHA256)
      }
    }
    return answers
  }

  /// Verifies signatures whose lengths have been checked; returns `false` if there is no table or OpenSSL failed.
  private func verifyByTable(
    _ signatures: Span<UInt8>, _ digests: Span<UInt8>, into answers: UnsafeMutableBufferPointer<Bool>
  ) -> Bool {
    guard let table else { return false }
    return unsafe signatures.withUnsafeBufferPointer { signatures in
      unsafe digests.withUnsafeBufferPointer { digests in
        guard let signatures = signatures.baseAddress, let digests = digests.baseAddress else { return false }
        return unsafe table.verify(signatures, digests, into: answers)
      }
    }
  }
}
