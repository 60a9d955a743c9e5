// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Synchronization

/// A hash function of FIPS 180-4.
///
/// SHA-1 is here because receipts of 2011 to 2023 are signed with it; where it is acceptable is for the
/// verification policy to say.
public enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// SHA-1, 20 bytes.
  case sha1
  /// SHA-256, 32 bytes.
  case sha256
  /// SHA-384, 48 bytes.
  case sha384
  /// SHA-512, 64 bytes.
  case sha512

  /// The length of the digest, in bytes.
  public var byteCount: Int {
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

  /// Indicates whether libcrypto offers the algorithm to signatures: a process may run with providers, such as FIPS,
  /// that leave one out.
  package var isAvailable: Bool { unsafe implementation != nil }

  /// The error if it is not available.
  package var unavailable: CryptoError {
    CryptoError(
      .internalFailure, "libcrypto offers no \(rawValue); check the providers in openssl.cnf, and memory.")
  }

  /// Fetched once a process: `EVP_sha256()` and its like make OpenSSL 3 look the implementation up again on
  /// every use, which doubles the cost of hashing a short message. `nil` if libcrypto does not have it, or lacks
  /// memory to say so.
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

  /// The algorithm fetched before, or fetched now: a failure is not remembered.
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

// An EVP_MD never changes once fetched, and its reference count is atomic.
extension FetchedDigest: @unchecked Sendable {}
