// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

/// A request for the status of a single certificate (RFC 6960 section 4.1).
package struct OCSPRequest: Sendable {
  /// The length of generated nonces, in bytes, as RFC 9654 section 2.1 recommends.
  package static let nonceByteCount = 32

  /// The request in DER, with the media type `application/ocsp-request`.
  package let der: [UInt8]
  /// The request's nonce; `nil` if it has none.
  package let nonce: [UInt8]?

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - certificate: The certificate whose status is requested.
  ///   - issuer: The certificate of its issuer.
  ///   - hash: The digest algorithm that identifies issuer and key. It is SHA-1 by default, which every responder
  ///     supports; no security depends on it.
  ///   - nonce: 1 to 128 bytes that the response must repeat, so that an old response is not accepted; 32 random bytes
  ///     by default. `nil` lets responders and caches send a response made before.
  /// - Throws: ``OCSPError/Code/internalFailure`` if OpenSSL fails, or the nonce does not have 1 to 128 bytes.
  package init(
    certificate: Certificate, issuer: Certificate, hash: DigestAlgorithm = .sha1,
    nonce: [UInt8]? = Random.bytes(nonceByteCount)
  ) throws(OCSPError) {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    guard let request = unsafe OCSP_REQUEST_new() else { throw .outOfMemory }
    defer { unsafe OCSP_REQUEST_free(request) }
    guard let identifier = unsafe OCSPIdentifier.make(certificate, issuer, hash) else { throw .outOfMemory }
    // The request now owns the identifier.
    guard unsafe OCSP_request_add0_id(request, identifier) != nil else {
      unsafe OCSP_CERTID_free(identifier)
      throw .outOfMemory
    }
    if var nonce {
      guard (1...128).contains(nonce.count) else {
        throw OCSPError(.internalFailure, "A nonce has 1 to 128 bytes; this one has \(nonce.count).")
      }
      guard unsafe OCSP_request_add1_nonce(request, &nonce, Int32(nonce.count)) == 1 else {
        throw .outOfMemory
      }
    }
    guard let der = unsafe OpenSSLBytes.encoded({ unsafe i2d_OCSP_REQUEST(request, $0) }) else {
      throw .outOfMemory
    }
    self.der = der
    self.nonce = nonce
  }
}

/// Creates and compares CertIDs, which identify certificates in OCSP.
enum OCSPIdentifier {
  /// Creates an identifier; the caller must free it with `OCSP_CERTID_free`.
  static func make(_ certificate: Certificate, _ issuer: Certificate, _ hash: DigestAlgorithm)
    -> OpaquePointer?
  {
    // Without a digest OpenSSL would use SHA-1.
    guard let digest = unsafe hash.implementation else { return nil }
    return unsafe OCSP_cert_to_id(digest, certificate.backing.certificate, issuer.backing.certificate)
  }

  /// Returns `true` if the identifier names this certificate, with any supported digest.
  static func matches(_ identifier: OpaquePointer, _ certificate: Certificate, _ issuer: Certificate) -> Bool
  {
    var algorithm: OpaquePointer?
    guard unsafe OCSP_id_get0_info(nil, &algorithm, nil, nil, identifier) == 1 else { return false }
    let nid = unsafe OBJ_obj2nid(algorithm)
    guard let hash = DigestAlgorithm.allCases.first(where: { $0.nid == nid }),
      let ours = unsafe make(certificate, issuer, hash)
    else { return false }
    defer { unsafe OCSP_CERTID_free(ours) }
    return unsafe OCSP_id_cmp(ours, identifier) == 0
  }
}

/// Decodes the nonce extension (RFC 9654), whose value is an OCTET STRING inside the extension's OCTET STRING.
enum OCSPNonce {
  static func value(of found: OpaquePointer) -> [UInt8]? {
    guard let data = unsafe X509_EXTENSION_get_data(found) else { return nil }
    let value = unsafe OpenSSLBytes.content(of: UnsafeRawPointer(data))
    return DERSequence.contents(of: .octetString, in: value).map(Array.init)
  }
}
