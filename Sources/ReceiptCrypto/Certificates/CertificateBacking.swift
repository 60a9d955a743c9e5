// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Synchronization

/// Owns an OpenSSL certificate, freed with the last value that uses it.
@safe
final class CertificateBacking {
  let certificate: OpaquePointer
  let der: [UInt8]
  let fingerprint: [UInt8]
  let notBefore: Int64
  let notAfter: Int64

  // Kept once made: the parts of the key that verification needs cost more than a lookup.
  private let keyBacking = AtomicLazyReference<KeyBacking>()

  init(der: [UInt8]) throws(CryptoError) {
    ErrorQueue.clear()
    let decoded = unsafe OpenSSLBytes.decoded(der, free: { unsafe X509_free($0) }) {
      unsafe d2i_X509(nil, $0, $1)
    }
    guard let certificate = unsafe decoded else {
      throw ErrorQueue.error(.malformedCertificate, "This is not one X.509 certificate in DER.")
    }
    do throws(CryptoError) {
      try CertificateStructure.check(der)
      (notBefore, notAfter) = try unsafe Self.validity(of: certificate)
    } catch {
      unsafe X509_free(certificate)
      throw error
    }
    unsafe self.certificate = certificate
    self.der = der
    self.fingerprint = Digest.hash(der, using: .sha256)
    ErrorQueue.clear()
  }

  deinit { unsafe X509_free(certificate) }

  /// `nil` where OpenSSL cannot decode the key.
  func publicKeyBacking(_ subjectPublicKeyInfo: [UInt8]) -> KeyBacking? {
    if let made = keyBacking.load() { return made }
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    guard let key = unsafe X509_get0_pubkey(certificate), unsafe EVP_PKEY_up_ref(key) == 1 else { return nil }
    return unsafe keyBacking.storeIfNil(
      KeyBacking(takingOwnership: key, subjectPublicKeyInfo: subjectPublicKeyInfo))
  }

  /// Decodes the extensions now, once, which also makes the certificate read-only from here on.
  private static func validity(
    of certificate: OpaquePointer
  ) throws(CryptoError) -> (notBefore: Int64, notAfter: Int64) {
    unsafe X509_check_purpose(certificate, -1, 0)
    guard unsafe X509_get_extension_flags(certificate) & UInt32(EXFLAG_INVALID) == 0 else {
      throw ErrorQueue.error(.malformedCertificate, "An extension of the certificate cannot be decoded.")
    }
    guard let notBefore = unsafe seconds(UnsafeRawPointer(X509_get0_notBefore(certificate))),
      let notAfter = unsafe seconds(UnsafeRawPointer(X509_get0_notAfter(certificate)))
    else {
      throw ErrorQueue.error(.malformedCertificate, "The certificate's validity is not two dates.")
    }
    return (notBefore, notAfter)
  }

  /// Seconds since 1970; `nil` where `time` is not a time.
  private static func seconds(_ time: UnsafeRawPointer) -> Int64? {
    var seconds: Int64 = 0
    return unsafe COpenSSL_ASN1_TIME_seconds(time, &seconds) == 1 ? seconds : nil
  }
}

// Not changed after init: the extensions are decoded there (OpenSSL would otherwise do it at first use), the
// public key was decoded with the certificate, and the reference count is atomic.
extension CertificateBacking: @unchecked Sendable {}
