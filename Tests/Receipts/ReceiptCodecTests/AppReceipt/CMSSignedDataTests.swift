// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

@testable import ReceiptCodec

@Suite("CMS container of app receipts")
struct CMSSignedDataTests {
  private func expectFailure(
    _ code: MalformedReceipt.Code, at offset: Int, parsing bytes: [UInt8],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: MalformedReceipt.self, sourceLocation: sourceLocation) {
      try UnverifiedAppReceipt(parsing: bytes)
    }
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(error?.place == .byteOffset(offset, within: "app receipt"), sourceLocation: sourceLocation)
  }

  /// A container whose parts a test may replace.
  private func container(
    outerType: String = "1.2.840.113549.1.7.2", version: Int64 = 1,
    innerType: String = "1.2.840.113549.1.7.1",
    parameters: [UInt8] = [0x05, 0x00], content: [UInt8]? = [0x04, 0x02, 0x31, 0x00],
    certificates: [UInt8] = SampleReceipts.certificate, signerVersion: Int64 = 1,
    signer: [UInt8] = [0x30, 0x05, 0x30, 0x00, 0x02, 0x01, 0x05], signedAttributes: [UInt8] = [],
    unsignedAttributes: [UInt8] = []
  ) -> [UInt8] {
    func identifier(_ dotted: String, _ writer: inout ASN1Writer) {
      if let identifier = ObjectIdentifier(dotted) { writer.write(identifier) }
    }
    func algorithm(_ writer: inout ASN1Writer) {
      writer.write(.sequence) { algorithm in
        identifier(ObjectIdentifiers.sha256, &algorithm)
        algorithm.append(parameters)
      }
    }
    var writer = ASN1Writer()
    writer.write(.sequence) { info in
      identifier(outerType, &info)
      info.write(.contextSpecificConstructed(0)) { explicit in
        explicit.write(.sequence) { data in
          data.write(integer: version)
          data.write(.set) { algorithm(&$0) }
          data.write(.sequence) { encapsulated in
            identifier(innerType, &encapsulated)
            if let content {
              encapsulated.write(.contextSpecificConstructed(0)) { $0.append(content) }
            }
          }
          data.write(.contextSpecificConstructed(0), contents: certificates)
          data.write(.set) { signers in
            signers.write(.sequence) { info in
              info.write(integer: signerVersion)
              info.append(signer)
              algorithm(&info)
              info.append(signedAttributes)
              algorithm(&info)
              info.write(octetString: [1, 2, 3])
              info.append(unsignedAttributes)
            }
          }
        }
      }
    }
    return writer.bytes
  }

  @Test("What is written is read back")
  func roundTrip() throws {
    let written = SampleReceipts.container(of: [0x31, 0x00])
    let receipt = try UnverifiedAppReceipt(parsing: written.encoded())
    #expect(receipt.signedData == written)
    #expect(receipt.signedData.encoded() == receipt.encoded)
    #expect(receipt.signedData.certificates.count == 2)
    #expect(
      Array(receipt.signedData.certificatesBytes) == SampleReceipts.certificate + SampleReceipts.certificate)
    #expect(receipt.signedData.signerInfos.first?.issuer == SampleReceipts.name[...])
    #expect(receipt.signedData.signerInfos.first?.serialNumber == [0x05])
    #expect(receipt.signedData.signerInfos.first?.signature == [0xDE, 0xAD])
    #expect(receipt.signedData.signerInfos.first?.signatureAlgorithm == ObjectIdentifiers.rsaEncryption)
  }

  @Test("The same receipt in BER decodes to the same")
  func berEqualsDER() throws {
    let payload = SampleReceipts.payload.encoded()
    let der = try UnverifiedAppReceipt(parsing: SampleReceipts.appReceipt)
    // Indefinite lengths all the way down to the content, which comes in three pieces.
    let identifier = { (dotted: String) -> [UInt8] in
      var writer = ASN1Writer()
      if let identifier = ObjectIdentifier(dotted) { writer.write(identifier) }
      return writer.bytes
    }
    let signedDataStart = try #require(SampleReceipts.appReceipt.firstRange(of: [0x02, 0x01, 0x01, 0x31]))
      .lowerBound
    let contentInfo = identifier("1.2.840.113549.1.7.1")
    let contentInfoStart = try #require(SampleReceipts.appReceipt.firstRange(of: contentInfo)).lowerBound
    let certificatesStart = try #require(SampleReceipts.appReceipt.firstRange(of: payload)).upperBound
    var ber: [UInt8] = [0x30, 0x80] + identifier("1.2.840.113549.1.7.2") + [0xA0, 0x80, 0x30, 0x80]
    ber += SampleReceipts.appReceipt[signedDataStart..<(contentInfoStart - 4)]
    ber += [0x30, 0x80] + contentInfo + [0xA0, 0x80, 0x24, 0x80]
    for piece in [payload[..<10], payload[10..<11], payload[11...]] {
      var writer = ASN1Writer()
      writer.write(octetString: piece)
      ber += writer.bytes
    }
    ber += [0, 0, 0, 0, 0, 0]
    ber += SampleReceipts.appReceipt[certificatesStart...] + [0, 0, 0, 0, 0, 0]
    let receipt = try UnverifiedAppReceipt(parsing: ber)
    #expect(receipt.signedData == der.signedData)
    #expect(try receipt.decoded().content == der.decoded().content)
    #expect(receipt.encoded != der.encoded)
  }

  @Test("Other content types, versions and detached signatures are refused")
  func unsupportedShapes() throws {
    _ = try UnverifiedAppReceipt(parsing: container())
    expectFailure(.unsupported, at: 2, parsing: container(outerType: "1.2.840.113549.1.7.3"))
    expectFailure(.unsupported, at: 17, parsing: container(version: 2))
    expectFailure(.unsupported, at: 39, parsing: container(innerType: "1.2.840.113549.1.9.16.1.4"))
    expectFailure(.missing, at: 50, parsing: container(content: nil))
    expectFailure(.unsupported, at: 35, parsing: container(parameters: [0x30, 0x00]))
    expectFailure(.invalidValue, at: 35, parsing: container(parameters: [0x05, 0x01, 0x00]))
    expectFailure(.unexpected, at: 52, parsing: container(content: [0x31, 0x00]))
    expectFailure(.trailingData, at: 56, parsing: container(content: [0x04, 0x02, 0x31, 0x00, 0x05, 0x00]))
    expectFailure(.unsupported, at: 58, parsing: container(certificates: [0xA1, 0x00]))
    expectFailure(.unsupported, at: 67, parsing: container(signerVersion: 2))
    expectFailure(.invalidValue, at: 67, parsing: container(signerVersion: 3))
    expectFailure(.unexpected, at: 70, parsing: container(signer: [0x80, 0x01, 0x05]))
  }

  @Test("A signer named by key, and unsigned attributes, are read")
  func otherSigners() throws {
    let bytes = container(signerVersion: 3, signer: [0x80, 0x01, 0x05], unsignedAttributes: [0xA1, 0x00])
    let signer = try #require(try UnverifiedAppReceipt(parsing: bytes).signedData.signerInfos.first)
    #expect(signer.version == 3)
    #expect(signer.subjectKeyIdentifier == [0x05])
    #expect(signer.issuer.isEmpty)
    #expect(signer.serialNumber.isEmpty)
    #expect(signer.signedAttributes == nil)
  }

  @Test("Signed attributes are kept as the bytes that are signed")
  func signedAttributes() throws {
    let contentType: [UInt8] = [
      0x30, 0x18, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03, 0x31, 0x0B, 0x06, 0x09,
      0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01,
    ]
    let digest: [UInt8] = [
      0x30, 0x12, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04, 0x31, 0x05, 0x04, 0x03,
      0x0A, 0x0B, 0x0C,
    ]
    func attributes(_ list: [UInt8]) -> [UInt8] { [0xA0, UInt8(list.count)] + list }
    let bytes = container(signedAttributes: attributes(digest + contentType))
    let receipt = try UnverifiedAppReceipt(parsing: bytes)
    let read = try #require(receipt.signedData.signerInfos.first?.signedAttributes)
    #expect(read.encoded == [0x31, UInt8(digest.count + contentType.count)] + digest + contentType)
    #expect(read.contentType == "1.2.840.113549.1.7.1")
    #expect(read.messageDigest == [0x0A, 0x0B, 0x0C])
    #expect(read.attributes.map(\.type) == ["1.2.840.113549.1.9.4", "1.2.840.113549.1.9.3"])
    #expect(read.attributes.first?.values == [[0x04, 0x03, 0x0A, 0x0B, 0x0C]])
    // Of this sample both algorithms are the digest's, so that writing gives the same bytes.
    #expect(receipt.signedData.encoded() == bytes)

    func expectRefusal(
      _ code: MalformedReceipt.Code, at offset: Int, _ attributes: [UInt8],
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let bytes = container(signedAttributes: attributes)
      let start = try #require(bytes.firstRange(of: attributes)).lowerBound
      expectFailure(code, at: start + offset, parsing: bytes, sourceLocation: sourceLocation)
    }
    try expectRefusal(.invalidValue, at: 28, attributes(contentType + digest))
    try expectRefusal(.duplicate, at: 22, attributes(digest + digest))
    try expectRefusal(.unsupported, at: 1, [0xA0, 0x80] + digest + contentType + [0, 0])
    try expectRefusal(.invalidValue, at: 0, [0xA0, 0x00])
    var twoDigests = digest
    twoDigests[1] += 5
    twoDigests[14] += 5
    twoDigests += [0x04, 0x03, 0x0A, 0x0B, 0x0D]
    try expectRefusal(.invalidValue, at: 17, attributes(twoDigests))
  }

  @Test("Bytes after the container are refused, and so is anything but a container")
  func surroundings() {
    let bytes = container()
    expectFailure(.trailingData, at: bytes.count, parsing: bytes + [0x0A])
    expectFailure(.unrecognized, at: 0, parsing: [0x31, 0x00])
    for (bytes, limits, code) in [
      ([], ReceiptLimits.standard, MalformedReceipt.Code.empty),
      (bytes, ReceiptLimits(maximumByteCount: bytes.count - 1), .tooLarge),
    ] {
      let error = #expect(throws: MalformedReceipt.self) {
        try UnverifiedAppReceipt(parsing: bytes, limits: limits)
      }
      #expect(error?.code == code)
      #expect(error?.place == .whole)
    }
  }
}
