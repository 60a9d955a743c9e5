// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension CMSSignedData {
  /// Returns the container in DER: a `ContentInfo` that UnverifiedAppReceipt can read. Algorithm identifiers have NULL
  /// parameters, as in App Store receipts. An object identifier that is not in dotted form is omitted, and no reader
  /// accepts the result.
  package func encoded() -> [UInt8] {
    var writer = ASN1Writer()
    writer.write(.sequence) { contentInfo in
      contentInfo.write(.objectIdentifier, contents: ObjectIdentifiers.signedDataContents)
      contentInfo.write(.contextSpecificConstructed(0)) { explicit in
        explicit.write(.sequence, writeSignedData)
      }
    }
    return writer.bytes
  }

  private func writeSignedData(_ signedData: inout ASN1Writer) {
    signedData.write(integer: Int64(version))
    signedData.writeSet(
      of: digestAlgorithms.map { name in
        var algorithm = ASN1Writer()
        algorithm.write(algorithm: name)
        return algorithm.bytes
      })
    signedData.write(.sequence) { encapsulated in
      encapsulated.write(.objectIdentifier, contents: ObjectIdentifiers.dataContents)
      encapsulated.write(.contextSpecificConstructed(0)) { $0.write(octetString: content) }
    }
    if !certificates.isEmpty {
      // Keep the order of the chain, as every signer of receipts does. RFC 5652 section 10.2.3 requires a set, but
      // readers do not check that.
      signedData.write(.contextSpecificConstructed(0)) { field in
        for certificate in certificates { field.append(certificate) }
      }
    }
    signedData.writeSet(
      of: signerInfos.map { signer in
        var info = ASN1Writer()
        info.write(.sequence, signer.write)
        return info.bytes
      })
  }
}

extension CMSSignerInfo {
  fileprivate func write(_ info: inout ASN1Writer) {
    info.write(integer: Int64(version))
    if let subjectKeyIdentifier {
      info.write(.contextSpecific(0), contents: subjectKeyIdentifier)
    } else {
      info.write(.sequence) { identifier in
        identifier.append(issuer)
        identifier.write(.integer, contents: serialNumber)
      }
    }
    info.write(algorithm: digestAlgorithm)
    if let signedAttributes {
      info.append([0xA0])
      info.append(signedAttributes.encoded.dropFirst())
    }
    info.write(algorithm: signatureAlgorithm)
    info.write(octetString: signature)
  }
}

extension ASN1Writer {
  fileprivate mutating func write(algorithm name: String) {
    write(.sequence) { algorithm in
      if let identifier = ObjectIdentifier(name) { algorithm.write(identifier) }
      algorithm.writeNull()
    }
  }
}
