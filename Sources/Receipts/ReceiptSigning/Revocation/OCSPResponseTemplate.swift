// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto

extension OCSPResponseTemplate {
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
