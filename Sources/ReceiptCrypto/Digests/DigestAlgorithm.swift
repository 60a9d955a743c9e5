// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

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

  /// Fetched once a process: `EVP_sha256()` and its like make OpenSSL 3 look the implementation up again on
  /// every use, which doubles the cost of hashing a short message.
  var implementation: OpaquePointer {
    switch self {
    case .sha1: unsafe FetchedDigest.sha1.pointer
    case .sha256: unsafe FetchedDigest.sha256.pointer
    case .sha384: unsafe FetchedDigest.sha384.pointer
    case .sha512: unsafe FetchedDigest.sha512.pointer
    }
  }
}

@safe
private final class FetchedDigest {
  static let sha1 = FetchedDigest("SHA1")
  static let sha256 = FetchedDigest("SHA256")
  static let sha384 = FetchedDigest("SHA384")
  static let sha512 = FetchedDigest("SHA512")

  let pointer: OpaquePointer

  private init(_ name: String) {
    // Not reachable by input: only a libcrypto configured without the algorithm ends here, and a process
    // that cannot hash must not go on as if it had.
    guard let pointer = unsafe EVP_MD_fetch(nil, name, nil) else {
      preconditionFailure("libcrypto offers no \(name); check the providers in openssl.cnf")
    }
    unsafe self.pointer = pointer
  }

  deinit { unsafe EVP_MD_free(pointer) }
}

// An EVP_MD never changes once fetched, and its reference count is atomic.
extension FetchedDigest: @unchecked Sendable {}
