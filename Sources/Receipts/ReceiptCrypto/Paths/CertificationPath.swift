// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Validates certification paths (RFC 5280 section 6) with OpenSSL.
package enum CertificationPath {
  /// The maximum number of intermediate certificates; genuine receipts have one.
  package static let maximumIntermediates = 8

  /// Validates the path `leaf`, `intermediates` in the given order, `anchor`. The path consists of exactly these
  /// certificates, and only `anchor` is trusted. If the leaf is the anchor, and there are no intermediates, the path is
  /// that one certificate.
  ///
  /// It checks signatures, names, validity, basicConstraints, path lengths, key usages of authorities,
  /// policy constraints and unknown critical extensions. It does not check the leaf's purpose: the caller checks its markers. SHA-1 and 1024-bit RSA
  /// are accepted, because genuine old chains have them. Nothing is fetched, and the system's trust store is not read.
  ///
  /// - Parameters:
  ///   - leaf: The certificate to validate.
  ///   - intermediates: The certificates in between, from the leaf's issuer upwards.
  ///   - anchor: The trusted certificate.
  ///   - secondsSince1970: The time at which all certificates must be valid, their first and last second included;
  ///     `nil` to leave validity dates to the caller.
  /// - Returns: The reason for which the path is not valid; `nil` if it is valid.
  /// - Throws: ``CryptoError/Code/internalFailure`` if libcrypto could not compute the answer.
  package static func failure(
    leaf: Certificate, intermediates: [Certificate], anchor: Certificate, at secondsSince1970: Int64?
  ) throws(CryptoError) -> Failure? {
    guard intermediates.count <= maximumIntermediates else {
      return Failure(
        errorCode: Int(X509_V_ERR_CERT_CHAIN_TOO_LONG), depth: maximumIntermediates + 1,
        text: "\(intermediates.count) intermediate certificates, more than \(maximumIntermediates)")
    }
    let path = leaf == anchor && intermediates.isEmpty ? [leaf] : [leaf] + intermediates + [anchor]
    // Reject keys outside the bounds before computing anything with them.
    if let index = path.firstIndex(where: { !$0.publicKey.isSupported }) {
      return Failure(
        errorCode: Failure.unspecified, depth: index, text: "key of kind \(path[index].publicKey.kind)")
    }
    var failure: Failure?
    var errors: [OpenSSLError] = []
    let isValid: Void? = try Libcrypto.confirming { () throws(CryptoError) in
      failure = try self.failure(of: path, &errors)
      return failure == nil ? () : nil
    }
    guard isValid == nil else { return secondsSince1970.flatMap { expiry(of: path, at: $0) } }
    // OpenSSL reports a wrong signature if it does not provide the digest.
    for certificate in path.dropLast() {
      if let digest = certificate.signatureDigest, !digest.isAvailable { throw digest.unavailable }
    }
    // Only OpenSSL's error queue distinguishes a signature that the system forbids from a wrong one.
    if let failure, path.indices.contains(failure.depth), let digest = path[failure.depth].signatureDigest,
      failure.isPolicy || failure.errorCode == Failure.badSignature && ErrorQueue.isInability(errors)
    {
      throw ErrorQueue.inability(errors, digest: digest)
    }
    return failure
  }

  /// Verifies a path with libcrypto, and stores in `errors` the errors that libcrypto left in its queue.
  private static func failure(
    of path: [Certificate], _ errors: inout [OpenSSLError]
  ) throws(CryptoError) -> Failure? {
    guard let leaf = path.first, let anchor = path.last else { return nil }
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    guard let verification = unsafe X509_STORE_CTX_new() else { throw Libcrypto.outOfMemory }
    defer { unsafe X509_STORE_CTX_free(verification) }
    guard let store = unsafe TrustStore.make(trusting: anchor) else { throw Libcrypto.outOfMemory }
    defer { unsafe X509_STORE_free(store) }
    guard let untrusted = unsafe OPENSSL_sk_new_null() else { throw Libcrypto.outOfMemory }
    defer { unsafe OPENSSL_sk_free(untrusted) }
    for certificate in path.dropFirst().dropLast() {
      // The stack does not own the certificates; `path` keeps them alive until the end of this function.
      guard unsafe OPENSSL_sk_push(untrusted, UnsafeRawPointer(certificate.backing.certificate)) > 0 else {
        throw Libcrypto.outOfMemory
      }
    }
    guard unsafe X509_STORE_CTX_init(verification, store, leaf.backing.certificate, untrusted) == 1,
      let parameters = unsafe X509_STORE_CTX_get0_param(verification)
    else { throw Libcrypto.outOfMemory }
    // The dates are checked separately: for OpenSSL a certificate has already expired in its last second, which
    // contradicts RFC 5280 section 4.1.2.5.
    unsafe TrustStore.configure(parameters, at: nil)
    return try withExtendedLifetime(path) { () throws(CryptoError) in
      guard unsafe X509_verify_cert(verification) == 1 else {
        errors = ErrorQueue.drain()
        let failure = unsafe failure(of: verification)
        if failure.errorCode == Int(X509_V_ERR_OUT_OF_MEM) { throw Libcrypto.outOfMemory }
        return failure
      }
      return unsafe deviation(of: verification, from: path)
    }
  }

  private static func expiry(of path: [Certificate], at secondsSince1970: Int64) -> Failure? {
    for (depth, certificate) in path.enumerated() {
      if secondsSince1970 < certificate.notBefore {
        return Failure(errorCode: Failure.notYetValid, depth: depth, text: "certificate is not yet valid")
      }
      if secondsSince1970 > certificate.notAfter {
        return Failure(errorCode: Failure.expired, depth: depth, text: "certificate has expired")
      }
    }
    return nil
  }

  private static func failure(of verification: OpaquePointer) -> Failure {
    let code = unsafe X509_STORE_CTX_get_error(verification)
    let depth = unsafe X509_STORE_CTX_get_error_depth(verification)
    return unsafe Failure(
      // X509_verify_cert can fail to allocate memory without setting an error.
      errorCode: code == X509_V_OK ? Failure.unspecified : Int(code), depth: Int(depth),
      text: String(cString: X509_verify_cert_error_string(Int(code))))
  }

  /// Checks that OpenSSL has built the given path: it may find a shorter one, or another order of the same
  /// certificates.
  private static func deviation(of verification: OpaquePointer, from path: [Certificate]) -> Failure? {
    let built = unsafe X509_STORE_CTX_get0_chain(verification)
    let count = unsafe Int(OPENSSL_sk_num(built))
    for index in 0..<max(count, path.count) {
      guard index < count, index < path.count,
        let certificate = unsafe OPENSSL_sk_value(built, Int32(index)),
        unsafe X509_cmp(OpaquePointer(certificate), path[index].backing.certificate) == 0
      else {
        return Failure(
          errorCode: Failure.unspecified, depth: index,
          text: "the certificates do not form a path in the order given")
      }
    }
    return nil
  }
}

extension CertificationPath.Failure {
  package var description: String { "\(text) (error \(errorCode) at certificate \(depth))" }

  package static let unspecified = Int(X509_V_ERR_UNSPECIFIED)
  package static let notYetValid = Int(X509_V_ERR_CERT_NOT_YET_VALID)
  package static let expired = Int(X509_V_ERR_CERT_HAS_EXPIRED)
  package static let badSignature = Int(X509_V_ERR_CERT_SIGNATURE_FAILURE)

  /// Indicates whether the system's security level rejected the strength of a digest or key. Paths are validated at
  /// level 0, and this package determines which strengths are sufficient. So such a failure says nothing about the
  /// certificate.
  fileprivate var isPolicy: Bool {
    [X509_V_ERR_CA_MD_TOO_WEAK, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_EE_KEY_TOO_SMALL].contains(
      Int32(errorCode))
  }
}

extension Certificate {
  /// The digest algorithm of the issuer's signature; `nil` if it is not a supported one.
  fileprivate var signatureDigest: DigestAlgorithm? {
    var digest: Int32 = 0
    guard unsafe OBJ_find_sigid_algs(X509_get_signature_nid(backing.certificate), &digest, nil) == 1 else {
      return nil
    }
    return DigestAlgorithm.allCases.first { $0.nid == digest }
  }
}

/// Creates OpenSSL stores with a single trusted certificate.
enum TrustStore {
  /// Creates a store; the caller must free it with `X509_STORE_free`.
  static func make(trusting anchor: Certificate) -> OpaquePointer? {
    guard let store = unsafe X509_STORE_new() else { return nil }
    guard unsafe X509_STORE_add_cert(store, anchor.backing.certificate) == 1 else {
      unsafe X509_STORE_free(store)
      return nil
    }
    return unsafe store
  }

  static func configure(_ parameters: OpaquePointer, at secondsSince1970: Int64?) {
    // The distribution's default may be higher and reject SHA-1 and 1024-bit RSA. The verification policy determines
    // when these are acceptable.
    unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 0)
    unsafe X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_ANY)
    // An anchor is trusted because it is pinned, even if it is not self-signed.
    unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    // Otherwise OpenSSL ignores the policy constraints of an issuer, critical ones too (RFC 5280 section 6.1.5).
    unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_POLICY_CHECK))
    // Any policy will do. Without memory for it, a path in which an issuer demands one is refused.
    unsafe X509_VERIFY_PARAM_add0_policy(parameters, OBJ_nid2obj(NID_any_policy))
    if let secondsSince1970 {
      unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(secondsSince1970))
    } else {
      unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_NO_CHECK_TIME))
    }
  }
}
