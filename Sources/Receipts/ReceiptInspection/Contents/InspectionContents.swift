// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The contents of a receipt as members of a JSON object, in the order in which they are written.
enum InspectionContents {
  static func members(of receipt: UnverifiedReceipt) -> [JSONMember] {
    switch receipt {
    case .jws(let jws): members(of: jws, depth: 0)
    case .appReceipt(let receipt): members(of: receipt)
    case .transactionReceipt(let receipt): members(of: receipt)
    case .detached(let receipt): members(of: receipt)
    }
  }

  // MARK: - JWS

  /// Returns the members of a JWS, and at depth 0 decodes the signed parts of a notification, which contain no signed
  /// parts.
  private static func members(of jws: UnverifiedJWS, depth: Int) -> [JSONMember] {
    var members = [JSONMember(name: "format", value: .string(Inspection.format(of: jws)))]
    do throws(MalformedReceipt) {
      let header = try jws.header()
      members.append(
        JSONMember(
          name: "header",
          value: .object(
            [JSONMember(name: "alg", value: .string(header.alg))]
              + [("kid", header.kid), ("typ", header.typ)].compactMap { name, value in
                value.map { JSONMember(name: name, value: .string($0)) }
              } + header.unknownFields)))
      members.append(JSONMember(name: "certificates", value: certificates(header.x5c)))
    } catch {
      members.append(JSONMember(name: "header", value: .string("malformed: \(error)")))
    }
    do throws(MalformedReceipt) {
      let payload = try JSONValue(parsing: jws.payload)
      members.append(JSONMember(name: "payload", value: depth == 0 ? opened(payload) : payload))
    } catch {
      members.append(JSONMember(name: "payload", value: .string("malformed: \(error)")))
    }
    members.append(JSONMember(name: "signature", value: .string(Hexadecimal.encode(jws.signature))))
    return members
  }

  private static func opened(_ value: JSONValue) -> JSONValue {
    guard case .object(let members) = value else { return value }
    return .object(
      members.map { member in
        guard
          ["signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo"].contains(member.name),
          let compact = member.value.string, let jws = try? UnverifiedJWS(parsing: Array(compact.utf8))
        else { return JSONMember(name: member.name, value: opened(member.value)) }
        return JSONMember(name: member.name, value: .object(Self.members(of: jws, depth: 1)))
      })
  }

  // MARK: - App receipt

  private static func members(of receipt: UnverifiedAppReceipt) -> [JSONMember] {
    let signedData = receipt.signedData
    var members = [
      JSONMember(name: "format", value: .string(ReceiptKind.appReceipt.rawValue)),
      JSONMember(
        name: "digestAlgorithms", value: .array(signedData.digestAlgorithms.map { .string($0) })),
      JSONMember(name: "signerInfos", value: .array(signedData.signerInfos.map(signerInfo))),
      JSONMember(name: "certificates", value: certificates(signedData.certificates.map { Array($0) })),
    ]
    do throws(MalformedReceipt) {
      let payload = try receipt.decodePayload()
      members.append(
        JSONMember(
          name: "attributes",
          value: .array(
            payload.attributes.filter { $0.type != InAppPurchase.attributeType }.map(AttributeReport.value))))
      members.append(
        JSONMember(
          name: "inAppPurchases",
          value: .array(
            payload.inAppPurchases.map { .array($0.attributes.map(AttributeReport.value)) })))
    } catch {
      members.append(JSONMember(name: "attributes", value: .string("malformed: \(error)")))
    }
    return members
  }

  private static func signerInfo(_ info: CMSSignerInfo) -> JSONValue {
    var members = [
      JSONMember(name: "version", value: .integer(Int64(info.version))),
      JSONMember(name: "serialNumber", value: .string(Hexadecimal.encode(info.serialNumber))),
      JSONMember(name: "digestAlgorithm", value: .string(info.digestAlgorithm)),
      JSONMember(name: "signatureAlgorithm", value: .string(info.signatureAlgorithm)),
    ]
    if let attributes = info.signedAttributes {
      members.append(
        JSONMember(
          name: "signedAttributes",
          value: .array(
            attributes.attributes.map { attribute in
              .object([
                JSONMember(name: "type", value: .string(attribute.type)),
                JSONMember(
                  name: "name", value: .string(ObjectIdentifiers.names[attribute.type] ?? "unknown")),
                JSONMember(
                  name: "hex",
                  value: .string(attribute.values.map { Hexadecimal.encode($0) }.joined(separator: " "))),
              ])
            })))
    }
    members.append(JSONMember(name: "signature", value: .string(Hexadecimal.encode(info.signature))))
    return .object(members)
  }

  // MARK: - Transaction receipt

  private static func members(of receipt: UnverifiedTransactionReceipt) -> [JSONMember] {
    var members = [
      JSONMember(name: "format", value: .string(ReceiptKind.transactionReceipt.rawValue)),
      JSONMember(name: "signatureVersion", value: .integer(Int64(receipt.signatureVersion))),
      JSONMember(name: "certificates", value: certificates([receipt.leafCertificate])),
    ]
    members += entries(of: receipt.encoded, named: "outer").map { member in
      // These two large values are shown decoded instead.
      guard case .object(let entries) = member.value else { return member }
      return JSONMember(
        name: member.name,
        value: .object(entries.filter { !["signature", "purchase-info"].contains($0.name) }))
    }
    members += entries(of: receipt.purchaseInfo, named: "purchaseInfo")
    members.append(JSONMember(name: "signature", value: .string(Hexadecimal.encode(receipt.signature))))
    return members
  }

  private static func entries(of text: [UInt8], named name: String) -> [JSONMember] {
    do throws(MalformedReceipt) {
      let list = try PropertyList(parsing: text)
      return [JSONMember(name: name, value: list.jsonValue)]
    } catch {
      return [JSONMember(name: name, value: .string("malformed: \(error)"))]
    }
  }

  // MARK: - Detached signatures

  private static func members(of receipt: UnverifiedDetachedReceipt) -> [JSONMember] {
    var members = [JSONMember(name: "format", value: .string(Inspection.format(of: receipt).rawValue))]
    do throws(MalformedReceipt) {
      let content = try receipt.decoded().unsafelyAssumeAuthentic()
      members.append(JSONMember(name: "data", value: content.jsonValue(of: receipt.signedBytes)))
    } catch {
      members.append(JSONMember(name: "data", value: .string("malformed: \(error)")))
    }
    if let algorithm = receipt.statedAlgorithm {
      members.append(JSONMember(name: "signatureAlgorithm", value: .string(algorithm)))
    }
    members.append(JSONMember(name: "signature", value: .string(Hexadecimal.encode(receipt.signature))))
    return members
  }

  // MARK: - Certificates

  private static func certificates(_ encoded: [[UInt8]]) -> JSONValue {
    .array(
      encoded.map { der in
        do throws(CryptoError) {
          return CertificateDetails(try Certificate(der: der)).jsonValue
        } catch {
          return .string("malformed: \(error)")
        }
      })
  }
}
