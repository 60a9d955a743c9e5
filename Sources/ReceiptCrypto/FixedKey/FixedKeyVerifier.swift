// SPDX-License-Identifier: Apache-2.0

/// Verification under one P-256 key, several times faster than the ordinary call, by tables of the key's
/// multiples that OpenSSL computes.
///
/// It answers exactly as ``PublicKey/isValidSignature(_:forDigest:using:)`` does with
/// ``SignatureAlgorithm/ecdsaP256SHA256``, and asks that where OpenSSL fails. The time that it takes depends on
/// the signature, the digest and the key, all of which are public.
///
/// Any number of threads may use one at a time.
package final class FixedKeyVerifier: Sendable {
  /// The length of a signature, r ‖ s, in bytes.
  package static let signatureByteCount = 64
  /// The length of a digest, in bytes.
  package static let digestByteCount = 32

  /// What the verifier takes up in memory, in bytes, rounded up; without the key, which it shares.
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

  /// Whether `signature`, 64 bytes r ‖ s, is the key's signature of the message whose SHA-256 is `digest`.
  /// `false` too where either is of another length.
  package func isValid(_ signature: Span<UInt8>, forDigest digest: Span<UInt8>) -> Bool {
    guard signature.count == Self.signatureByteCount, digest.count == Self.digestByteCount else {
      return false
    }
    var answer = false
    unsafe signature.withUnsafeBufferPointer { signature in
      unsafe digest.withUnsafeBufferPointer { digest in
        unsafe withUnsafeMutablePointer(to: &answer) {
          unsafe verify(signature, digest, into: UnsafeMutableBufferPointer(start: $0, count: 1))
        }
      }
    }
    return answer
  }

  /// Whether each of `count` signatures is the key's signature of the message whose digest stands at the same
  /// place: somewhat faster than one by one. Each answer is that of its own signature alone.
  ///
  /// - Parameters:
  ///   - signatures: 64 bytes r ‖ s each, without a gap.
  ///   - digests: SHA-256, 32 bytes each, without a gap.
  ///   - count: How many there are of each: any number.
  /// - Returns: `count` answers. All are `false` where the lengths do not go with `count`.
  package func validities(signatures: Span<UInt8>, digests: Span<UInt8>, count: Int) -> [Bool] {
    guard count > 0 else { return [] }
    let (signaturesLength, overflow) = count.multipliedReportingOverflow(by: Self.signatureByteCount)
    guard !overflow, signatures.count == signaturesLength, digests.count == count * Self.digestByteCount
    else {
      return [Bool](repeating: false, count: count)
    }
    return unsafe [Bool](unsafeUninitializedCapacity: count) { answers, initialized in
      unsafe answers.initialize(repeating: false)
      initialized = count
      unsafe signatures.withUnsafeBufferPointer { signatures in
        unsafe digests.withUnsafeBufferPointer { digests in
          for start in stride(from: 0, to: count, by: FixedKeyScratch.capacity) {
            let end = min(start + FixedKeyScratch.capacity, count)
            unsafe verify(
              UnsafeBufferPointer(rebasing: signatures[start * 64..<end * 64]),
              UnsafeBufferPointer(rebasing: digests[start * 32..<end * 32]),
              into: UnsafeMutableBufferPointer(rebasing: answers[start..<end]))
          }
        }
      }
    }
  }

  /// By the table or, where that fails, one by one with the ordinary call. The lengths were checked.
  private func verify(
    _ signatures: UnsafeBufferPointer<UInt8>, _ digests: UnsafeBufferPointer<UInt8>,
    into answers: UnsafeMutableBufferPointer<Bool>
  ) {
    if let table, let signatures = signatures.baseAddress, let digests = digests.baseAddress,
      unsafe table.verify(signatures, digests, into: answers)
    {
      return
    }
    for index in answers.indices {
      let signature = unsafe UnsafeBufferPointer(rebasing: signatures[index * 64..<index * 64 + 64])
      let digest = unsafe UnsafeBufferPointer(rebasing: digests[index * 32..<index * 32 + 32])
      unsafe answers[index] = key.isValidSignature(
        signature.span, forDigest: digest.span, using: .ecdsaP256SHA256)
    }
  }
}
