// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Synchronization

/// A hash function of FIPS 180-4. SHA-1 is included because receipts from 2011 to 2023 are signed with it. The
/// verification policy determines when it is acceptable.
package enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable {
  case sha1
  case sha256
  case sha384
  case sha512

  /// The length of the digest, in bytes.
  package var byteCount: Int {
    switch self {
    case .sha1: 20
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  static let maximumByteCount = 64

  var nid: Int32 {
    switch self {
    case .sha1: NID_sha1
    case .sha256: NID_sha256
    case .sha384: NID_sha384
    case .sha512: NID_sha512
    }
  }

  /// Indicates whether libcrypto provides the algorithm for signatures. The process's providers, such as FIPS, may omit
  /// an algorithm.
  package var isAvailable: Bool { unsafe implementation != nil }

  /// The error to throw if the algorithm is not available.
  package var unavailable: CryptoError {
    CryptoError(
      .internalFailure, "libcrypto offers no \(rawValue); check the providers in openssl.cnf, and memory.")
  }

  /// The implementation; `nil` if libcrypto does not provide it or cannot allocate memory. It is fetched once for each
  /// process. `EVP_sha256()` and similar functions make OpenSSL 3 look it up at every use, which doubles the cost of
  /// hashing a short message.
  var implementation: OpaquePointer? {
    switch self {
    case .sha1: unsafe FetchedDigest.pointer(FetchedDigest.sha1, "SHA1")
    case .sha256: unsafe FetchedDigest.pointer(FetchedDigest.sha256, "SHA256")
    case .sha384: unsafe FetchedDigest.pointer(FetchedDigest.sha384, "SHA384")
    case .sha512: unsafe FetchedDigest.pointer(FetchedDigest.sha512, "SHA512")
    }
  }
}

@safe
private final class FetchedDigest {
  static let sha1 = AtomicLazyReference<FetchedDigest>()
  static let sha256 = AtomicLazyReference<FetchedDigest>()
  static let sha384 = AtomicLazyReference<FetchedDigest>()
  static let sha512 = AtomicLazyReference<FetchedDigest>()

  private let pointer: OpaquePointer

  /// Returns the stored pointer, or fetches it. A failure is not stored.
  static func pointer(_ fetched: borrowing AtomicLazyReference<FetchedDigest>, _ name: String)
    -> OpaquePointer?
  {
    if let fetched = fetched.load() { return unsafe fetched.pointer }
    guard let pointer = unsafe EVP_MD_fetch(nil, name, nil) else { return nil }
    return unsafe fetched.storeIfNil(FetchedDigest(takingOwnership: pointer)).pointer
  }

  private init(takingOwnership pointer: OpaquePointer) { unsafe self.pointer = pointer }

  deinit { unsafe EVP_MD_free(pointer) }
}

// An EVP_MD does not change after it is fetched, and its reference count is atomic.
extension FetchedDigest: @unchecked Sendable {}
