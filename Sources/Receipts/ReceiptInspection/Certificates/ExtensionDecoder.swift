// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// Describes the value of a certificate extension (RFC 5280 sections 4.2.1 and 4.2.2). A value that is malformed, or
/// has a part that cannot be described, has no description: a description is always complete.
struct ExtensionDecoder {
  private struct Unsupported: Error {}

  private let bytes: [UInt8]
  private var reader: ReceiptASN1Reader

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
    reader = ReceiptASN1Reader(0..<bytes.count, part: "extension")
  }

  /// Returns the description of a value in DER; `nil` also for an unknown extension.
  static func text(of identifier: String, _ value: [UInt8]) -> String? {
    var decoder = Self(value)
    return try? decoder.parts(of: identifier).joined(separator: ", ")
  }

  private mutating func parts(of identifier: String) throws -> [String] {
    let parts =
      switch identifier {
      case ObjectIdentifiers.subjectKeyIdentifier: [try hexadecimal(.octetString)]
      case ObjectIdentifiers.subjectAlternativeName: try generalNames()
      case ObjectIdentifiers.crlDistributionPoints: try list { try $0.distributionPoint() }
      case ObjectIdentifiers.certificatePolicies: try list { [try $0.policy()] }
      case ObjectIdentifiers.authorityKeyIdentifier: try list { [try $0.partOfAuthorityKeyIdentifier()] }
      case ObjectIdentifiers.extendedKeyUsage: try list { [try $0.objectIdentifier()] }
      case ObjectIdentifiers.authorityInformationAccess:
        try list { [try $0.inside { try $0.objectIdentifier() + " " + $0.generalName() }] }
      default: throw Unsupported()
      }
    try reader.requireEnd(bytes.span)
    return parts
  }

  private mutating func partOfAuthorityKeyIdentifier() throws -> String {
    switch try nextTag {
    case .contextSpecificConstructed(1):
      "issuer " + (try generalNames(.contextSpecificConstructed(1)).joined(separator: ", "))
    case .contextSpecific(2): "serial number " + (try hexadecimal(.contextSpecific(2)))
    default: try hexadecimal(.contextSpecific(0))
    }
  }

  /// Describes a distribution point by URLs or directory names; one with reasons or a CRL issuer is unsupported.
  private mutating func distributionPoint() throws -> [String] {
    let tag = ASN1Tag.contextSpecificConstructed(0)
    // fullName is inside distributionPoint, whose tag is explicit because it is a CHOICE.
    return try inside { try $0.inside(tag) { try $0.generalNames(tag) } }
  }

  private mutating func policy() throws -> String {
    try inside { policy in
      let identifier = try policy.objectIdentifier()
      guard try policy.nextTag != nil else { return identifier }
      let qualifiers = try policy.list { [try $0.inside { try $0.policyQualifier() }] }
      return "\(identifier) (\(qualifiers.joined(separator: ", ")))"
    }
  }

  private mutating func policyQualifier() throws -> String {
    switch try objectIdentifier() {
    case "CPS": return "CPS " + (try word(.ia5String))
    // A notice with noticeRef is unsupported.
    case "userNotice": return "notice " + quoted(try inside { try $0.string() })
    default: throw Unsupported()
    }
  }

  // MARK: - Names

  private mutating func generalNames(_ tag: ASN1Tag = .sequence) throws -> [String] {
    try list(tag) { [try $0.generalName()] }
  }

  private mutating func generalName() throws -> String {
    guard let tag = try nextTag, tag.tagClass == .contextSpecific else { throw Unsupported() }
    switch tag.number {
    case 1: return "e-mail " + (try word(.contextSpecific(1)))
    case 2: return "DNS " + (try word(.contextSpecific(2)))
    // The tag is explicit because Name is a CHOICE.
    case 4: return "directory name " + (try inside(.contextSpecificConstructed(4)) { try $0.directoryName() })
    case 6: return try word(.contextSpecific(6))
    default: throw Unsupported()
    }
  }

  /// Returns the name in the order and with the escapes of RFC 4514.
  private mutating func directoryName() throws -> String {
    return try list { relative in
      let attributes = try relative.list(.set) { set in
        let (type, value) = try set.inside { (try $0.objectIdentifier(), try $0.string()) }
        return ["\(ObjectIdentifiers.names[type] ?? type)=\(set.escaped(value, "\"\\+,;<>"))"]
      }
      return [attributes.joined(separator: "+")]
    }.reversed().joined(separator: ",")
  }

  // MARK: - Values

  private var nextTag: ASN1Tag? { get throws { try reader.nextTag(bytes.span) } }

  private mutating func inside<Value>(
    _ tag: ASN1Tag = .sequence, _ body: (inout Self) throws -> Value
  ) throws -> Value {
    var outer = reader
    reader = try outer.enter(tag, bytes.span)
    let value = try body(&self)
    try outer.leave(reader, bytes.span)
    reader = outer
    return value
  }

  /// Returns the elements of a SEQUENCE OF or SET OF, which has at least one.
  private mutating func list(
    _ tag: ASN1Tag = .sequence, _ element: (inout Self) throws -> [String]
  ) throws -> [String] {
    try inside(tag) { decoder in
      var texts: [String] = []
      repeat { texts += try element(&decoder) } while try decoder.nextTag != nil
      return texts
    }
  }

  private mutating func objectIdentifier() throws -> String {
    let bytes = bytes
    let identifier = try reader.readObjectIdentifier(bytes.span).description
    return ObjectIdentifiers.names[identifier] ?? identifier
  }

  private mutating func contents(_ tag: ASN1Tag) throws -> ArraySlice<UInt8> {
    let bytes = bytes
    return bytes[try reader.read(tag, bytes.span)]
  }

  private mutating func hexadecimal(_ tag: ASN1Tag) throws -> String {
    Hexadecimal.encode(try contents(tag))
  }

  /// Returns an IA5String, quoted if it is empty or contains a space, a quotation mark or a backslash. A space would be
  /// ambiguous, because the separators of a description contain one.
  private mutating func word(_ tag: ASN1Tag) throws -> String {
    let octets = try contents(tag)
    guard octets.allSatisfy({ 0x20..<0x7F ~= $0 }) else { throw Unsupported() }
    let text = String(decoding: octets, as: UTF8.self)
    return text.isEmpty || text.contains { " \"\\".contains($0) } ? quoted(text) : text
  }

  /// Returns a UTF8String, IA5String, PrintableString or VisibleString.
  private mutating func string() throws -> String {
    // 0x13 is PrintableString, 0x1A is VisibleString.
    let tags = [.utf8String, .ia5String, ASN1Tag(shortForm: 0x13), ASN1Tag(shortForm: 0x1A)]
    guard let tag = try nextTag, tags.contains(tag),
      let text = String(validating: try contents(tag), as: UTF8.self)
    else { throw Unsupported() }
    return text
  }

  private func quoted(_ text: String) -> String { "\"" + escaped(text, "\"\\") + "\"" }

  private func escaped(_ text: String, _ special: String) -> String {
    text.reduce(into: "") { $0 += special.contains($1) ? "\\\($1)" : String($1) }
  }
}
