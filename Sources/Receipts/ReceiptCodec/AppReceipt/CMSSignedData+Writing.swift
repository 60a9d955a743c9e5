// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension CMSSignedData {
  /// Creates a container with one signature, laid out as in App Store receipts: version 1, no signed attributes.
  package init(
    content: ArraySlice<UInt8>, digestAlgorithm: String, certificates: [ArraySlice<UInt8>],
    issuer: ArraySlice<UInt8>, serialNumber: ArraySlice<UInt8>,
    signatureAlgorithm: String = ObjectIdentifiers.rsaEncryption, signature: ArraySlice<UInt8>
  ) {
    let signerInfo = CMSSignerInfo(
      version: 1, issuer: issuer, serialNumber: serialNumber, digestAlgorithm: digestAlgorithm,
      signatureAlgorithm: signatureAlgorithm, signature: signature)
    self.init(
      version: 1, digestAlgorithms: [digestAlgorithm], content: content, certificates: certificates,
      certificatesBytes: certificates.flatMap { $0 }[...], signerInfos: [signerInfo])
  }

  /// Returns the container in DER: a `ContentInfo` that UnverifiedAppReceipt can read. Algorithm identifiers have NULL
  /// parameters, as in App Store receipts. An object identifier that is not in dotted form is omitted, and no reader
  /// accepts the result.
  package func encoded() -> [UInt8] {
    ASN1Writer.encoding(.sequence) { contentInfo in
      contentInfo.write(.objectIdentifier, contents: ObjectIdentifiers.signedDataContents)
      contentInfo.write(.contextSpecificConstructed(0)) { explicit in
        explicit.write(.sequence, writeSignedData)
      }
    }
  }

  private func writeSignedData(_ signedData: inout ASN1Writer) {
    signedData.write(integer: Int64(version))
    signedData.writeSet(
      of: digestAlgorithms.map { name in ASN1Writer.encoding { $0.write(algorithm: name) } })
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
    signedData.writeSet(of: signerInfos.map { ASN1Writer.encoding(.sequence, $0.write) })
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
