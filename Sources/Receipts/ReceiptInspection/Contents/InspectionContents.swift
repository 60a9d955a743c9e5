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

  private static func list(_ members: (name: String, value: JSONValue?)...) -> [JSONMember] {
    JSONValue.members(members).object ?? []
  }

  /// Returns a part of the receipt, or the words for a malformed one.
  private static func part(_ body: () throws(MalformedReceipt) -> JSONValue) -> JSONValue {
    do throws(MalformedReceipt) {
      return try body()
    } catch {
      return .string("malformed: \(error)")
    }
  }

  private static func hex(_ bytes: some Collection<UInt8>) -> JSONValue { .string(Hexadecimal.encode(bytes)) }

  // MARK: - JWS

  /// Returns the members of a JWS, and at depth 0 decodes the signed parts of a notification, which contain no signed
  /// parts.
  private static func members(of jws: UnverifiedJWS, depth: Int) -> [JSONMember] {
    var x5c: [[UInt8]]?
    let header = part { () throws(MalformedReceipt) in
      let header = try jws.header()
      x5c = header.x5c
      let known = list(
        ("alg", .string(header.alg)), ("kid", header.kid.map { .string($0) }),
        ("typ", header.typ.map { .string($0) }))
      return .object(known + header.unknownFields)
    }
    let payload = part { () throws(MalformedReceipt) in
      let payload = try JSONValue(parsing: jws.payload)
      return depth == 0 ? opened(payload) : payload
    }
    return list(
      ("format", .string(Inspection.format(of: jws))), ("header", header),
      ("certificates", x5c.map(certificates)), ("payload", payload), ("signature", hex(jws.signature)))
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
    var purchases: JSONValue?
    let attributes = part { () throws(MalformedReceipt) in
      let payload = try receipt.decoded().content
      purchases = .array(payload.inAppPurchases.map { .array($0.attributes.map(attribute)) })
      return .array(payload.attributes.filter { $0.type != InAppPurchase.attributeType }.map(attribute))
    }
    return list(
      ("format", .string(ReceiptKind.appReceipt.rawValue)),
      ("digestAlgorithms", .array(signedData.digestAlgorithms.map { .string($0) })),
      ("signerInfos", .array(signedData.signerInfos.map(signerInfo))),
      ("certificates", certificates(signedData.certificates.map { Array($0) })),
      ("attributes", attributes), ("inAppPurchases", purchases))
  }

  /// Returns an attribute: its number, its name if known, and its value as text or number, otherwise in hexadecimal.
  private static func attribute(_ attribute: AppReceiptAttribute) -> JSONValue {
    let members = list(
      ("type", .integer(Int64(attribute.type))), ("name", .string(attribute.name ?? "unknown")),
      ("version", attribute.version == 1 ? nil : .integer(Int64(attribute.version))))
    return .object(members + [attribute.jsonMember])
  }

  /// Returns `true` for an attribute, a signed attribute or an extension, which have a type and a name.
  static func isAttribute(_ members: [JSONMember]) -> Bool {
    members.first?.name == "type" && members.dropFirst().first?.name == "name"
  }

  private static func signerInfo(_ info: CMSSignerInfo) -> JSONValue {
    let attributes = info.signedAttributes?.attributes.map { attribute in
      JSONValue.members(
        ("type", .string(attribute.type)),
        ("name", .string(ObjectIdentifiers.names[attribute.type] ?? "unknown")),
        ("hex", .string(attribute.values.map { Hexadecimal.encode($0) }.joined(separator: " "))))
    }
    return .members(
      ("version", .integer(Int64(info.version))), ("serialNumber", hex(info.serialNumber)),
      ("digestAlgorithm", .string(info.digestAlgorithm)),
      ("signatureAlgorithm", .string(info.signatureAlgorithm)),
      ("signedAttributes", attributes.map { .array($0) }), ("signature", hex(info.signature)))
  }

  // MARK: - Transaction receipt

  private static func members(of receipt: UnverifiedTransactionReceipt) -> [JSONMember] {
    let outer = part { () throws(MalformedReceipt) in
      var list = try PropertyList(parsing: receipt.encoded)
      // These two large values are shown decoded instead.
      list.entries.removeAll { ["signature", "purchase-info"].contains($0.key) }
      return list.jsonValue
    }
    let purchaseInfo = part { () throws(MalformedReceipt) in
      try PropertyList(parsing: receipt.purchaseInfo).jsonValue
    }
    return list(
      ("format", .string(ReceiptKind.transactionReceipt.rawValue)),
      ("signatureVersion", .integer(Int64(receipt.signatureVersion))),
      ("certificates", certificates([receipt.leafCertificate])), ("outer", outer),
      ("purchaseInfo", purchaseInfo), ("signature", hex(receipt.signature)))
  }

  // MARK: - Detached signatures

  private static func members(of receipt: UnverifiedDetachedReceipt) -> [JSONMember] {
    let data = part { () throws(MalformedReceipt) in
      try receipt.decoded().unsafelyAssumeAuthentic().jsonValue(of: receipt.signedBytes)
    }
    return list(
      ("format", .string(Inspection.format(of: receipt).rawValue)), ("data", data),
      ("signatureAlgorithm", receipt.statedAlgorithm.map { .string($0) }),
      ("signature", hex(receipt.signature)))
  }

  // MARK: - Certificates

  private static func certificates(_ encoded: [[UInt8]]) -> JSONValue {
    .array(
      encoded.map { der in
        do throws(CryptoError) {
          return try Certificate(der: der).jsonValue
        } catch {
          return .string("malformed: \(error)")
        }
      })
  }
}
