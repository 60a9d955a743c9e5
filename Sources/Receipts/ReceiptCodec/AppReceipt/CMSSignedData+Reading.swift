// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension CMSSignedData {
  /// The name of the input in errors.
  static let part: StaticString = "app receipt"

  /// Reads a `ContentInfo` that holds `SignedData` over `data`, in DER or BER; throws if anything follows it.
  ///
  /// ```
  /// SignedData ::= SEQUENCE {
  ///   version CMSVersion,
  ///   digestAlgorithms SET OF AlgorithmIdentifier,
  ///   encapContentInfo SEQUENCE { eContentType OBJECT IDENTIFIER, eContent [0] EXPLICIT OCTET STRING },
  ///   certificates [0] IMPLICIT CertificateSet OPTIONAL,
  ///   crls [1] IMPLICIT RevocationInfoChoices OPTIONAL,
  ///   signerInfos SET OF SignerInfo }
  /// ```
  init(reading receipt: [UInt8], limits: ReceiptLimits) throws(MalformedReceipt) {
    let bytes = receipt.span
    var top = ReceiptASN1Reader(
      0..<bytes.count, rules: .ber, maximumDepth: limits.maximumDepth, part: Self.part)
    var contentInfo = try top.enter(.sequence, bytes)
    try contentInfo.readContentType(ObjectIdentifiers.signedDataContents, named: "signedData", bytes)
    var explicit = try contentInfo.enter(.contextSpecificConstructed(0), bytes)
    var signedData = try explicit.enter(.sequence, bytes)

    let version = try signedData.readVersion(from: [1, 3, 4, 5], bytes)
    var digestAlgorithms: [String] = []
    var algorithmSet = try signedData.enter(.set, bytes)
    while try !algorithmSet.isAtEnd(bytes) {
      digestAlgorithms.append(try algorithmSet.readAlgorithmIdentifier(bytes))
    }
    try signedData.leave(algorithmSet, bytes)

    let content = try signedData.readEncapsulatedContent(of: receipt, bytes)

    var certificates: [ArraySlice<UInt8>] = []
    var certificatesBytes: ArraySlice<UInt8> = []
    if try signedData.nextTag(bytes) == .contextSpecificConstructed(0) {
      var field = try signedData.enter(.contextSpecificConstructed(0), bytes)
      let start = field.position
      while try !field.isAtEnd(bytes) {
        guard try field.nextTag(bytes) == .sequence else {
          throw field.failure(
            .unsupported, at: field.position, "The certificates hold something that is not an X.509 one.")
        }
        var certificate = field.underDER
        certificates.append(receipt[try certificate.skip(bytes)])
        field.advance(to: certificate)
      }
      certificatesBytes = receipt[start..<field.position]
      try signedData.leave(field, bytes)
    }
    if try signedData.nextTag(bytes) == .contextSpecificConstructed(1) { _ = try signedData.skip(bytes) }

    var signerInfos: [CMSSignerInfo] = []
    var signers = try signedData.enter(.set, bytes)
    while try !signers.isAtEnd(bytes) {
      signerInfos.append(try CMSSignerInfo(reading: &signers, of: receipt, bytes))
    }
    try signedData.leave(signers, bytes)
    try explicit.leave(signedData, bytes)
    try contentInfo.leave(explicit, bytes)
    try top.leave(contentInfo, bytes)
    try top.requireEnd(bytes)

    self.init(
      version: version, digestAlgorithms: digestAlgorithms, content: content, certificates: certificates,
      certificatesBytes: certificatesBytes, signerInfos: signerInfos)
  }
}

extension CMSSignerInfo {
  /// Reads the `SignerInfo` at the reader's position.
  ///
  /// ```
  /// SignerInfo ::= SEQUENCE {
  ///   version CMSVersion,
  ///   sid CHOICE { issuerAndSerialNumber SEQUENCE { issuer Name, serialNumber INTEGER },
  ///                subjectKeyIdentifier [0] OCTET STRING },
  ///   digestAlgorithm AlgorithmIdentifier,
  ///   signedAttrs [0] IMPLICIT SET OF Attribute OPTIONAL,
  ///   signatureAlgorithm AlgorithmIdentifier,
  ///   signature OCTET STRING,
  ///   unsignedAttrs [1] IMPLICIT SET OF Attribute OPTIONAL }
  /// ```
  init(
    reading signers: inout ReceiptASN1Reader, of receipt: [UInt8], _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) {
    var info = try signers.enter(.sequence, bytes)
    let versionStart = info.position
    version = try info.readVersion(from: [1, 3], bytes)
    if version == 1 {
      var identifier = try info.enter(.sequence, bytes)
      guard try identifier.nextTag(bytes) == .sequence else {
        throw identifier.failure(.unexpected, at: identifier.position, "The issuer is not a Name.")
      }
      var name = identifier.underDER
      issuer = receipt[try name.skip(bytes)]
      identifier.advance(to: name)
      serialNumber = receipt[try identifier.readInteger(bytes)]
      subjectKeyIdentifier = nil
      try info.leave(identifier, bytes)
    } else {
      guard try info.nextTag(bytes) == .contextSpecific(0) else {
        throw info.failure(
          .invalidValue, at: versionStart, "Version 3 without a subject key identifier; RFC 5652 section 5.3."
        )
      }
      issuer = []
      serialNumber = []
      subjectKeyIdentifier = receipt[try info.read(.contextSpecific(0), bytes)]
    }
    digestAlgorithm = try info.readAlgorithmIdentifier(bytes)
    if try info.nextTag(bytes) == .contextSpecificConstructed(0) {
      signedAttributes = try CMSSignedAttributes(reading: &info, of: receipt, bytes)
    } else {
      signedAttributes = nil
    }
    signatureAlgorithm = try info.readAlgorithmIdentifier(bytes)
    signature = receipt.joining(try info.readOctetString(bytes))
    if try info.nextTag(bytes) == .contextSpecificConstructed(1) { _ = try info.skip(bytes) }
    try signers.leave(info, bytes)
  }
}

extension ReceiptASN1Reader {
  fileprivate mutating func readContentType(
    _ expected: [UInt8], named name: String, _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) {
    let start = position
    let range = try read(.objectIdentifier, bytes)
    guard CMSIdentifiers.matches(expected, range, bytes) else {
      let found = ObjectIdentifier(contents: Array(copying: bytes, range))?.description ?? "malformed"
      throw failure(.unsupported, at: start, "The content type is \(found), not \(name).")
    }
  }

  fileprivate mutating func readVersion(
    from known: [Int], _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) -> Int {
    let start = position
    let version = Int(try readInt64(bytes))
    guard known.contains(version) else {
      throw failure(.unsupported, at: start, "The syntax version is \(version).")
    }
    return version
  }

  /// Reads an `AlgorithmIdentifier` and returns its algorithm. `AlgorithmIdentifier ::= SEQUENCE { algorithm OBJECT
  /// IDENTIFIER, parameters ANY OPTIONAL }`. The algorithms of receipts have no parameters other than NULL.
  fileprivate mutating func readAlgorithmIdentifier(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> String {
    var sequence = try enter(.sequence, bytes)
    let start = sequence.position
    let range = try sequence.read(.objectIdentifier, bytes)
    let name: String
    if let known = CMSIdentifiers.knownAlgorithm(range, bytes) {
      name = known
    } else if let identifier = ObjectIdentifier(contents: Array(copying: bytes, range)) {
      name = identifier.description
    } else {
      throw failure(.invalidValue, at: start, "The OBJECT IDENTIFIER is not well formed.")
    }
    if try !sequence.isAtEnd(bytes) {
      guard try sequence.nextTag(bytes) == .null else {
        throw failure(.unsupported, at: sequence.position, "The algorithm \(name) has parameters.")
      }
      try sequence.readNull(bytes)
    }
    try leave(sequence, bytes)
    return name
  }

  fileprivate mutating func readEncapsulatedContent(
    of receipt: [UInt8], _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) -> ArraySlice<UInt8> {
    var encapsulated = try enter(.sequence, bytes)
    try encapsulated.readContentType(ObjectIdentifiers.dataContents, named: "data", bytes)
    guard try encapsulated.nextTag(bytes) != nil else {
      throw failure(.missing, at: encapsulated.position, "The signature is detached: there is no content.")
    }
    var explicit = try encapsulated.enter(.contextSpecificConstructed(0), bytes)
    let content = receipt.joining(try explicit.readOctetString(bytes))
    try encapsulated.leave(explicit, bytes)
    try leave(encapsulated, bytes)
    return content
  }
}

extension [UInt8] {
  /// Returns the joined segments of an octet string; copies only if there are several.
  fileprivate func joining(_ pieces: [Range<Int>]) -> ArraySlice<UInt8> {
    if pieces.count == 1, let only = pieces.first { return self[only] }
    var joined: [UInt8] = []
    joined.reserveCapacity(pieces.reduce(0) { $0 + $1.count })
    for piece in pieces { joined += self[piece] }
    return joined[...]
  }
}

/// Object identifiers as the reader of the container compares them.
enum CMSIdentifiers {
  /// The algorithms in use, so that their dotted spelling is not built for each receipt.
  private static let algorithms: [(contents: [UInt8], dotted: String)] = [
    (ObjectIdentifiers.sha256Contents, ObjectIdentifiers.sha256),
    (ObjectIdentifiers.sha1Contents, ObjectIdentifiers.sha1),
    (ObjectIdentifiers.rsaEncryptionContents, ObjectIdentifiers.rsaEncryption),
    (ObjectIdentifiers.sha256WithRSAEncryptionContents, ObjectIdentifiers.sha256WithRSAEncryption),
    (ObjectIdentifiers.sha1WithRSAEncryptionContents, ObjectIdentifiers.sha1WithRSAEncryption),
  ]

  static func matches(_ identifier: [UInt8], _ range: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
    ByteSearch.isEqual(identifier.span, bytes.extracting(range))
  }

  /// The dotted spelling of an algorithm in use.
  static func knownAlgorithm(_ range: Range<Int>, _ bytes: Span<UInt8>) -> String? {
    for algorithm in algorithms where matches(algorithm.contents, range, bytes) { return algorithm.dotted }
    return nil
  }
}
