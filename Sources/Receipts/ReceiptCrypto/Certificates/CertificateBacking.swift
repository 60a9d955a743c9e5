// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Owns an OpenSSL certificate, which is freed with the last reference.
@safe
final class CertificateBacking {
  let certificate: OpaquePointer
  let der: [UInt8]
  let fingerprint: [UInt8]
  let notBefore: Int64
  let notAfter: Int64

  /// The public key; `nil` if OpenSSL cannot decode it.
  let publicKey: KeyBacking?
  /// The DER of the SubjectPublicKeyInfo.
  let subjectPublicKeyInfo: [UInt8]

  init(der: [UInt8]) throws(CryptoError) {
    let decoded = unsafe try Self.confirmed(der)
    do throws(CryptoError) {
      (publicKey, subjectPublicKeyInfo) = try unsafe Self.publicKey(of: decoded.certificate)
    } catch {
      unsafe X509_free(decoded.certificate)
      throw error
    }
    unsafe (certificate, notBefore, notAfter) = decoded
    self.der = der
    self.fingerprint = Digest.hash(der, using: .sha256)
    ErrorQueue.clear()
  }

  private typealias Decoded = (certificate: OpaquePointer, notBefore: Int64, notAfter: Int64)

  deinit { unsafe X509_free(certificate) }

  /// Decodes the certificate, and tries a second time if the certificate or its key cannot be decoded. The first
  /// attempt may have failed because memory could not be allocated. The second result is returned.
  private static func confirmed(_ der: [UInt8]) throws(CryptoError) -> Decoded {
    var answer = unsafe Result<Decoded, CryptoError>.failure(Libcrypto.outOfMemory)
    func free() {
      if case .success(let decoded) = unsafe answer { unsafe X509_free(decoded.certificate) }
    }
    do throws(CryptoError) {
      _ = try Libcrypto.confirming { () -> Void? in
        free()
        do throws(CryptoError) {
          let decoded = unsafe try decode(der)
          unsafe answer = .success(decoded)
          return unsafe X509_get0_pubkey(decoded.certificate) == nil ? nil : ()
        } catch {
          unsafe answer = .failure(error)
          return nil
        }
      }
    } catch {
      free()
      throw error
    }
    return unsafe try answer.get()
  }

  /// Decodes the certificate and its extensions; OpenSSL does not modify it afterwards.
  private static func decode(_ der: [UInt8]) throws(CryptoError) -> Decoded {
    ErrorQueue.clear()
    let decoded = unsafe OpenSSLBytes.decoded(der, free: { unsafe X509_free($0) }) {
      unsafe d2i_X509(nil, $0, $1)
    }
    guard let certificate = unsafe decoded else {
      throw ErrorQueue.error(.malformedCertificate, "This is not one X.509 certificate in DER.")
    }
    do throws(CryptoError) {
      try CertificateStructure.check(der)
      unsafe X509_check_purpose(certificate, -1, 0)
      guard unsafe X509_get_extension_flags(certificate) & UInt32(EXFLAG_INVALID) == 0 else {
        throw ErrorQueue.error(.malformedCertificate, "An extension of the certificate cannot be decoded.")
      }
      let (notBefore, notAfter) = try unsafe validity(of: certificate)
      return unsafe (certificate, notBefore, notAfter)
    } catch {
      unsafe X509_free(certificate)
      throw error
    }
  }

  private static func publicKey(
    of certificate: OpaquePointer
  ) throws(CryptoError) -> (KeyBacking?, subjectPublicKeyInfo: [UInt8]) {
    let encoded = unsafe OpenSSLBytes.encoded {
      unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), $0)
    }
    guard let subjectPublicKeyInfo = encoded else { throw Libcrypto.outOfMemory }
    guard let key = unsafe X509_get0_pubkey(certificate) else {
      // libcrypto reports a malformed key and a key without a decoder in the same way.
      guard PublicKey.canDecode else {
        throw CryptoError(
          .internalFailure, "libcrypto decodes no public keys; check the providers in openssl.cnf.")
      }
      return (nil, subjectPublicKeyInfo)
    }
    guard unsafe EVP_PKEY_up_ref(key) == 1 else { throw Libcrypto.outOfMemory }
    return unsafe (
      try KeyBacking(takingOwnership: key, subjectPublicKeyInfo: subjectPublicKeyInfo), subjectPublicKeyInfo
    )
  }

  private static func validity(
    of certificate: OpaquePointer
  ) throws(CryptoError) -> (notBefore: Int64, notAfter: Int64) {
    guard let notBefore = unsafe OpenSSLBytes.seconds(of: UnsafeRawPointer(X509_get0_notBefore(certificate))),
      let notAfter = unsafe OpenSSLBytes.seconds(of: UnsafeRawPointer(X509_get0_notAfter(certificate)))
    else {
      throw ErrorQueue.error(.malformedCertificate, "The certificate's validity is not two dates.")
    }
    return (notBefore, notAfter)
  }
}

// The certificate does not change after initialization: its extensions are decoded there (OpenSSL would otherwise
// decode them at first use), its public key is decoded with the certificate, and the reference count is atomic.
extension CertificateBacking: @unchecked Sendable {}
