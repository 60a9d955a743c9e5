// SPDX-License-Identifier: Apache-2.0

@testable import ReceiptCodec
import ReceiptBytes
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting

/// App receipts put together by hand.
enum ForgedAppReceipt {
  static let sampleContent = SampleReceipts.appReceipt.encoded()

  /// A valid receipt with its container changed and the signature left as it is.
  static func changing(_ change: (inout CMSSignedData) throws -> Void) throws -> [UInt8] {
    var signedData = try UnverifiedAppReceipt(parsing: Fixture.sample(.appReceipt)).signedData
    try change(&signedData)
    return signedData.encoded()
  }

  /// Signed with attributes, as `CMS_sign` does.
  static func withSignedAttributes(content: [UInt8] = sampleContent) throws -> [UInt8] {
    let identity = try Fixture.rsa.identity
    return try CMSReference.sign(
      content, certificate: identity.chain[0], key: identity.privateKey, digest: .sha256,
      certificates: Array(identity.chain.dropFirst()), signedAttributes: true)
  }

  /// With signed attributes of the caller's making, signed rightly.
  static func signing(attributes: [[UInt8]], content: [UInt8] = sampleContent) throws -> [UInt8] {
    let identity = try Fixture.rsa.identity
    var set = ASN1Writer()
    set.writeSet(of: attributes)
    let signature = try identity.privateKey.signature(for: set.bytes, using: .rsaPKCS1v15(.sha256))
    return try container(content: content, signedAttributes: set.bytes, signature: signature)
  }

  /// A container with the given `SET OF Attribute` under the tag `[0]`, or none.
  static func container(
    content: [UInt8], signedAttributes: [UInt8]?, signature: [UInt8]
  ) throws -> [UInt8] {
    let identity = try Fixture.rsa.identity
    let leaf = identity.chain[0]
    var writer = ASN1Writer()
    writer.write(.sequence) { info in
      info.writeIdentifier("1.2.840.113549.1.7.2")
      info.write(.contextSpecificConstructed(0)) { explicit in
        explicit.write(.sequence) { data in
          data.write(integer: 1)
          data.write(.set) { $0.writeAlgorithm(ObjectIdentifiers.sha256) }
          data.write(.sequence) { encapsulated in
            encapsulated.writeIdentifier("1.2.840.113549.1.7.1")
            encapsulated.write(.contextSpecificConstructed(0)) { $0.write(octetString: content) }
          }
          data.write(.contextSpecificConstructed(0)) { field in
            for certificate in identity.chain { field.append(certificate.der) }
          }
          data.write(.set) { signers in
            signers.write(.sequence) { signer in
              signer.write(integer: 1)
              signer.write(.sequence) { identifier in
                identifier.append(leaf.issuerDER)
                identifier.write(.integer, contents: leaf.serialNumber)
              }
              signer.writeAlgorithm(ObjectIdentifiers.sha256)
              if let signedAttributes { signer.append([0xA0] + signedAttributes.dropFirst()) }
              signer.writeAlgorithm(ObjectIdentifiers.rsaEncryption)
              signer.write(octetString: signature)
            }
          }
        }
      }
    }
    return writer.bytes
  }

  /// `Attribute ::= SEQUENCE { attrType OBJECT IDENTIFIER, attrValues SET OF AttributeValue }`
  static func attribute(_ type: String, value: [UInt8]) -> [UInt8] {
    var writer = ASN1Writer()
    writer.write(.sequence) { attribute in
      attribute.writeIdentifier(type)
      attribute.write(.set) { $0.append(value) }
    }
    return writer.bytes
  }

  static func octetString(_ value: [UInt8]) -> [UInt8] {
    var writer = ASN1Writer()
    writer.write(octetString: value)
    return writer.bytes
  }

  static func objectIdentifier(_ dotted: String) -> [UInt8] {
    var writer = ASN1Writer()
    writer.writeIdentifier(dotted)
    return writer.bytes
  }
}

extension ASN1Writer {
  mutating func writeIdentifier(_ dotted: String) {
    if let identifier = ObjectIdentifier(dotted) { write(identifier) }
  }

  mutating func writeAlgorithm(_ dotted: String) {
    write(.sequence) { algorithm in
      algorithm.writeIdentifier(dotted)
      algorithm.writeNull()
    }
  }
}
