// SPDX-License-Identifier: Apache-2.0

/// The identifier octets of an ASN.1 value (X.690 section 8.1.2): the class, the number and the constructed bit.
///
/// They are packed into one word, because the reader compares a tag for every value.
public struct ASN1Tag: Sendable, Hashable, CustomStringConvertible {
  /// The class of a tag.
  public enum Class: UInt8, Sendable {
    case universal = 0x00
    case application = 0x40
    case contextSpecific = 0x80
    case `private` = 0xC0
  }

  /// The number in the upper 24 bits; the class and the constructed bit, as in the first identifier octet, in the lower
  /// 8.
  public let packed: UInt32

  /// The largest tag number that is supported: the largest that fits in three octets of the long form.
  @inlinable public static var greatestNumber: UInt32 { 0x1F_FFFF }

  /// Creates a tag; the number is truncated to 24 bits.
  @inlinable
  public init(_ tagClass: Class, number: UInt32, isConstructed: Bool) {
    packed = (number << 8) | UInt32(tagClass.rawValue) | (isConstructed ? 0x20 : 0)
  }

  /// Creates a tag of the short form from its only octet.
  @inlinable @inline(__always)
  public init(shortForm octet: UInt8) {
    packed = (UInt32(octet & 0x1F) << 8) | UInt32(octet & 0xE0)
  }

  /// Creates a tag of the long form.
  @inlinable
  public init(leadingOctet octet: UInt8, longFormNumber number: UInt32) {
    packed = (number << 8) | UInt32(octet & 0xE0)
  }

  /// The tag number.
  package var number: UInt32 { packed >> 8 }
  /// Returns `true` if the tags are equal.
  @inlinable @inline(__always)
  public static func == (left: ASN1Tag, right: ASN1Tag) -> Bool { left.packed == right.packed }

  /// Indicates whether the value is constructed: its contents are values themselves.
  @inlinable public var isConstructed: Bool { packed & 0x20 != 0 }
  /// The class of the tag.
  package var tagClass: Class { Class(rawValue: UInt8(truncatingIfNeeded: packed & 0xC0)) ?? .universal }

  /// The identifier octets.
  package var octets: [UInt8] {
    let leading = UInt8(truncatingIfNeeded: packed & 0xE0)
    guard number >= 31 else { return [leading | UInt8(truncatingIfNeeded: number)] }
    return [leading | 0x1F] + ObjectIdentifier.base128(UInt64(number))
  }

  /// BOOLEAN.
  @inlinable public static var boolean: ASN1Tag { ASN1Tag(shortForm: 0x01) }
  /// INTEGER.
  @inlinable public static var integer: ASN1Tag { ASN1Tag(shortForm: 0x02) }
  /// BIT STRING.
  @inlinable public static var bitString: ASN1Tag { ASN1Tag(shortForm: 0x03) }
  /// OCTET STRING.
  @inlinable public static var octetString: ASN1Tag { ASN1Tag(shortForm: 0x04) }
  /// OCTET STRING in segments, under BER.
  @inlinable public static var constructedOctetString: ASN1Tag { ASN1Tag(shortForm: 0x24) }
  /// NULL.
  @inlinable public static var null: ASN1Tag { ASN1Tag(shortForm: 0x05) }
  /// OBJECT IDENTIFIER.
  @inlinable public static var objectIdentifier: ASN1Tag { ASN1Tag(shortForm: 0x06) }
  /// ENUMERATED.
  @inlinable public static var enumerated: ASN1Tag { ASN1Tag(shortForm: 0x0A) }
  /// UTF8String.
  @inlinable public static var utf8String: ASN1Tag { ASN1Tag(shortForm: 0x0C) }
  /// IA5String.
  @inlinable public static var ia5String: ASN1Tag { ASN1Tag(shortForm: 0x16) }
  /// UTCTime.
  @inlinable public static var utcTime: ASN1Tag { ASN1Tag(shortForm: 0x17) }
  /// SEQUENCE and SEQUENCE OF.
  @inlinable public static var sequence: ASN1Tag { ASN1Tag(shortForm: 0x30) }
  /// SET and SET OF.
  @inlinable public static var set: ASN1Tag { ASN1Tag(shortForm: 0x31) }

  /// `[number]`, the form of an IMPLICIT primitive.
  @inlinable
  public static func contextSpecific(_ number: UInt32) -> ASN1Tag {
    ASN1Tag(.contextSpecific, number: number, isConstructed: false)
  }

  /// `[number]`, constructed: EXPLICIT, or IMPLICIT over a SEQUENCE or SET.
  @inlinable
  public static func contextSpecificConstructed(_ number: UInt32) -> ASN1Tag {
    ASN1Tag(.contextSpecific, number: number, isConstructed: true)
  }

  /// The name of a universal type, or the class and the number of any other tag.
  public var description: String {
    switch self {
    case .boolean: "BOOLEAN"
    case .integer: "INTEGER"
    case .bitString: "BIT STRING"
    case .octetString: "OCTET STRING"
    case .constructedOctetString: "constructed OCTET STRING"
    case .null: "NULL"
    case .objectIdentifier: "OBJECT IDENTIFIER"
    case .enumerated: "ENUMERATED"
    case .utf8String: "UTF8String"
    case .ia5String: "IA5String"
    case .utcTime: "UTCTime"
    case .sequence: "SEQUENCE"
    case .set: "SET"
    default: "[\(tagClass) \(number)]\(isConstructed ? " constructed" : "")"
    }
  }
}
