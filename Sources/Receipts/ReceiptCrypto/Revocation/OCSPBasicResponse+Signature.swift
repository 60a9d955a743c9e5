// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension OCSPBasicResponse {
  /// Throws unless the issuer, or a responder that it has authorized itself, signed the response (RFC 6960 section
  /// 4.2.2.2).
  func demandSignature(issuer: Certificate, at now: Int64) throws(OCSPError) {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    let oid = unsafe OpenSSLObject.dotted(algorithm: OCSP_resp_get0_tbs_sigalg(basic))
    guard RevocationSignature.acceptsInResponse(oid: oid) else {
      throw OCSPError(
        .badSignature, "The response is signed with the algorithm \(oid), which is not accepted.")
    }
    guard let candidates = unsafe OPENSSL_sk_new_null() else { throw .outOfMemory }
    defer { unsafe OPENSSL_sk_free(candidates) }
    // The stack does not own the certificate.
    guard unsafe OPENSSL_sk_push(candidates, UnsafeRawPointer(issuer.backing.certificate)) > 0 else {
      throw .outOfMemory
    }
    try withExtendedLifetime(issuer) { () throws(OCSPError) in
      // The certificate that the responder identifier names: the issuer's, or one in the response.
      var found: OpaquePointer?
      guard unsafe OCSP_resp_get0_signer(basic, &found, candidates) == 1, let found = unsafe found else {
        throw OCSPError(
          .untrustedResponder, "The response names as its signer neither the issuer nor a certificate in it.")
      }
      if unsafe X509_cmp(found, issuer.backing.certificate) == 0 {
        guard issuer.publicKey.isSupported else {
          throw OCSPError(.badSignature, "The issuer's key is not of a kind that is used here.")
        }
      } else {
        try Self.demandAuthorization(of: try unsafe Self.certificate(found), by: issuer, at: now)
      }
      let isMatch: Bool
      do throws(CryptoError) {
        // Finds the signer in the same way, and checks only the signature: the signer was checked above.
        isMatch = try Libcrypto.matches {
          unsafe OCSP_basic_verify(basic, candidates, nil, UInt(OCSP_NOVERIFY))
        }
      } catch {
        throw OCSPError(.internalFailure, error.message)
      }
      guard isMatch else { throw OCSPError(.badSignature, "The signature does not match the response.") }
    }
  }

  private static func certificate(_ found: OpaquePointer) throws(OCSPError) -> Certificate {
    guard let der = unsafe OpenSSLBytes.encoded({ unsafe i2d_X509(found, $0) }) else { throw .outOfMemory }
    do throws(CryptoError) {
      return try Certificate(der: der)
    } catch {
      throw OCSPError(.malformedResponse, "The responder's certificate is not in order: \(error)")
    }
  }

  private static func demandAuthorization(
    of responder: Certificate, by issuer: Certificate, at now: Int64
  ) throws(OCSPError) {
    func refusal(_ text: String) -> OCSPError {
      OCSPError(.untrustedResponder, "The responder \"\(responder.subject)\" \(text).")
    }
    let failure: CertificationPath.Failure?
    do throws(CryptoError) {
      failure = try CertificationPath.failure(leaf: responder, intermediates: [], anchor: issuer, at: nil)
    } catch {
      throw .outOfMemory
    }
    if let failure {
      throw refusal("was not certified by the issuer \"\(issuer.subject)\": \(failure.text)")
    }
    guard RevocationSignature.acceptsInResponse(oid: responder.signatureAlgorithmOID) else {
      throw refusal("has a certificate signed with \(responder.signatureAlgorithmOID), which is not accepted")
    }
    guard responder.isForOCSPSigning else {
      throw refusal("has a certificate that is not for signing OCSP responses")
    }
    guard now >= responder.notBefore, now <= responder.notAfter else {
      throw refusal("has a certificate that is not valid now")
    }
  }
}

extension Certificate {
  /// Indicates whether extendedKeyUsage contains OCSPSigning, and keyUsage, if present, allows signatures.
  fileprivate var isForOCSPSigning: Bool {
    guard unsafe X509_get_extension_flags(backing.certificate) & UInt32(EXFLAG_XKUSAGE) != 0,
      unsafe X509_get_extended_key_usage(backing.certificate) & UInt32(XKU_OCSP_SIGN) != 0
    else { return false }
    return keyUsage?.contains(.digitalSignature) ?? true
  }
}
