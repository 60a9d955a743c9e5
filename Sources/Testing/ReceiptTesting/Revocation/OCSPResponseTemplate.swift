// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto

/// The contents of a new OCSP response, valid or not, for tests and emulated responders (RFC 6960 section 4.2.1).
package struct OCSPResponseTemplate: Sendable {
  /// The answer about one certificate.
  package struct Answer: Sendable {
    package var certificate: Certificate
    package var issuer: Certificate
    /// The hash algorithm in the CertID of the certificate.
    package var hash: DigestAlgorithm = .sha1
    /// The CertID of a request, which replaces the certificate's own.
    package var identifier: [UInt8]?
    package var standing: CertificateStatus.Standing
    /// The time in seconds since 1970.
    package var thisUpdate: Int64
    /// The time in seconds since 1970; `nil` omits it.
    package var nextUpdate: Int64?

    package init(
      _ certificate: Certificate, issuer: Certificate, _ standing: CertificateStatus.Standing,
      thisUpdate: Int64, nextUpdate: Int64?
    ) {
      self.certificate = certificate
      self.issuer = issuer
      self.standing = standing
      self.thisUpdate = thisUpdate
      self.nextUpdate = nextUpdate
    }
  }

  package var answers: [Answer]
  /// The responder's certificate.
  package var signer: Certificate
  /// `true` if the response names the responder by the SHA-1 of its key, `false` if by its subject.
  package var namesKey = false
  package var key: PrivateKey
  /// `true` if the response contains the signer's certificate, which is required for a delegate.
  package var includesSigner = false
  package var digest: DigestAlgorithm = .sha256
  package var nonce: [UInt8]?

  package init(_ answers: [Answer], signer: Certificate, key: PrivateKey) {
    self.answers = answers
    self.signer = signer
    self.key = key
  }

  /// Signs the response, and returns it in DER.
  package func sign() throws(CryptoError) -> [UInt8] {
    let data = ASN1Writer.encoding { writer in
      writer.write(.sequence) { data in
        if namesKey {
          data.write(.contextSpecificConstructed(2)) {
            $0.write(octetString: Digest.hash(signer.publicKey.bits, using: .sha1))
          }
        } else {
          data.write(.contextSpecificConstructed(1), contents: signer.subjectDER)
        }
        data.write(generalizedTime: answers.first?.thisUpdate ?? 0)
        data.write(.sequence) { list in for answer in answers { list.write(answer) } }
        if let nonce {
          let value = ASN1Writer.encoding { $0.write(octetString: nonce) }
          data.write(.contextSpecificConstructed(1)) {
            $0.write([
              Certificate.Extension(oid: ObjectIdentifiers.ocspNonce, isCritical: false, value: value)
            ])
          }
        }
      }
    }
    let basicResponse = try data.signed(by: key, digest, certificates: includesSigner ? [signer] : [])
    return ASN1Writer.encoding { writer in
      writer.write(.sequence) { response in
        response.write(.enumerated, contents: [0])
        response.write(.contextSpecificConstructed(0)) { explicit in
          explicit.write(.sequence) { bytes in
            bytes.write(oid: ObjectIdentifiers.ocspBasicResponse)
            bytes.write(octetString: basicResponse)
          }
        }
      }
    }
  }

  /// A response with an error status. Codes without a status, such as ``OCSPError/Code/malformedResponse``, become
  /// `internalError`.
  package static func refusal(_ code: OCSPError.Code) -> [UInt8] {
    let status: UInt8 =
      switch code {
      case .malformedRequest: 1
      case .tryLater: 3
      case .signatureRequired: 5
      case .unauthorized: 6
      default: 2
      }
    return ASN1Writer.encoding { $0.write(.sequence) { $0.write(.enumerated, contents: [status]) } }
  }
}

extension ASN1Writer {
  /// Writes a SingleResponse.
  fileprivate mutating func write(_ answer: OCSPResponseTemplate.Answer) {
    write(.sequence) { single in
      if let identifier = answer.identifier {
        single.append(identifier)
      } else {
        single.write(identifierOf: answer.certificate, answer.issuer, answer.hash)
      }
      switch answer.standing {
      case .good: single.write(.contextSpecific(0), contents: [])
      case .unknown: single.write(.contextSpecific(2), contents: [])
      case .revoked(let instant, let reason):
        single.write(.contextSpecificConstructed(1)) { revoked in
          revoked.write(generalizedTime: instant)
          if let reason { revoked.write(.contextSpecificConstructed(0)) { $0.write(reason) } }
        }
      }
      single.write(generalizedTime: answer.thisUpdate)
      if let nextUpdate = answer.nextUpdate {
        single.write(.contextSpecificConstructed(0)) { $0.write(generalizedTime: nextUpdate) }
      }
    }
  }
}
