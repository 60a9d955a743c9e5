// SPDX-License-Identifier: Apache-2.0

/// Verification under one P-256 key, several times faster than the ordinary call, by tables of the key's
/// multiples that OpenSSL computes.
///
/// It answers exactly as ``PublicKey/isValidSignature(_:forDigest:using:)`` does with
/// ``SignatureAlgorithm/ecdsaP256SHA256``, and asks that where OpenSSL fails. The time that it takes depends on
/// the signature, the digest and the key, which are all public.
///
/// Any number of threads may use one at a time.
package final class FixedKeyVerifier: Sendable {
  /// The length of a signature, r ‖ s, in bytes.
  package static let signatureByteCount = 64
  /// The length of a digest, in bytes.
  package static let digestByteCount = 32

  /// The memory of the verifier, in bytes, rounded up; without the key, which it shares.
  package let byteCount: Int

  private let key: PublicKey
  private let table: FixedKeyTable?

  /// Makes the table, which takes as long as some hundreds of ordinary verifications: only for a key that has
  /// been proved genuine and is used that often.
  ///
  /// `nil` where ``isAvailable`` is `false`, the key is not a valid one of P-256, or OpenSSL declines.
  package init?(_ key: PublicKey) {
    guard Self.isAvailable, let table = FixedKeyTable(key) else { return nil }
    self.key = key
    self.table = table
    self.byteCount = FixedKeyTable.byteCount
  }

  /// One that finds its table failing every time, and so is left with the ordinary call. For tests.
  package init(failingFor key: PublicKey) {
    self.key = key
    self.table = nil
    self.byteCount = 0
  }

  /// For the check that ``isAvailable`` is the result of.
  init(_ key: PublicKey, table: FixedKeyTable) {
    self.key = key
    self.table = table
    self.byteCount = FixedKeyTable.byteCount
  }

  /// Indicates whether `signature`, 64 bytes r ‖ s, is the key's signature of the message whose SHA-256 is `digest`.
  /// `false` too where either is of another length.
  ///
  /// - Throws: ``CryptoError/Code/internalFailure`` where libcrypto could not compute the answer.
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

  /// The same of the message with this digest.
  package func isValid(_ signature: Span<UInt8>, forDigest digest: SHA256Digest) throws(CryptoError) -> Bool {
    let result = digest.withBytes { digest in
      Result { () throws(CryptoError) in try isValid(signature, forDigest: digest) }
    }
    return try result.get()
  }

  /// Indicates whether each of `count` signatures is the key's signature of the message whose digest stands at the same
  /// place: somewhat faster than one by one. Each answer is that of its own signature alone.
  ///
  /// - Parameters:
  ///   - signatures: 64 bytes r ‖ s each, without a gap.
  ///   - digests: SHA-256, 32 bytes each, without a gap.
  ///   - count: How many there are of each: any number.
  /// - Returns: `count` answers. All are `false` where the lengths do not go with `count`.
  /// - Throws: ``CryptoError/Code/internalFailure`` where libcrypto could not compute one of them.
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

  /// `false` where there is no table, or OpenSSL failed. The lengths were checked.
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
