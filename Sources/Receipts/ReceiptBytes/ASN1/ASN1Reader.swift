// SPDX-License-Identifier: Apache-2.0

// Public, like everything in this module that is inlined: the compiler inlines no `package` declaration into another
// module. The module itself is not a product.

/// A strict reader of ASN.1 in the Basic or Distinguished Encoding Rules (X.690).
///
/// A reader is only a position. Every call takes the bytes, which are always the whole input. So offsets in errors are
/// offsets into that input, and copying a reader is cheap.
///
/// Under DER the reader accepts only definite lengths. Under BER it also accepts indefinite lengths and constructed
/// octet strings. Under both it rejects a length or an integer with more octets than it needs: no signer writes one,
/// and a second encoding of the same value would be a security hole.
///
/// The reader does not check the order of a `SET OF`, because Xcode does not sort it. Malformed input is reported as an
/// error of the caller's type.
public struct ASN1Reader<Errors: ASN1Errors>: Sendable {
  /// The error that the reader throws.
  public typealias Failure = Errors.Failure

  /// The offset of the next octet to read.
  public var position: Int
  /// The offset after the last octet that may be read.
  ///
  /// Inside a value of indefinite length, it is the end of the innermost enclosing value of definite length.
  public let end: Int
  /// Indicates whether end-of-contents octets end the value that is being read.
  public let isIndefinite: Bool
  /// The encoding rules.
  public let rules: ASN1Rules
  /// The name of the input, for errors.
  public let part: StaticString
  /// The number of further levels that may be entered.
  public let remainingDepth: Int

  /// Creates a reader of a range of the bytes.
  @inlinable
  public init(
    _ range: Range<Int>, rules: ASN1Rules = .der, maximumDepth: Int = 32, part: StaticString
  ) {
    self.init(
      position: range.lowerBound, end: range.upperBound, isIndefinite: false, rules: rules, part: part,
      remainingDepth: maximumDepth)
  }

  /// Creates a reader from its stored properties.
  @inlinable
  public init(
    position: Int, end: Int, isIndefinite: Bool, rules: ASN1Rules, part: StaticString, remainingDepth: Int
  ) {
    self.position = position
    self.end = end
    self.isIndefinite = isIndefinite
    self.rules = rules
    self.part = part
    self.remainingDepth = remainingDepth
  }

  /// The identifier and length octets of a value.
  public struct Header {
    /// The tag.
    public let tag: ASN1Tag
    /// The offset of the contents.
    public let contents: Int
    /// The offset after the contents; `nil` for an indefinite length.
    public let end: Int?

    /// Creates a header.
    @inlinable @inline(__always)
    public init(tag: ASN1Tag, contents: Int, end: Int?) {
      (self.tag, self.contents, self.end) = (tag, contents, end)
    }
  }

  // MARK: - Moving through values

  /// Returns `true` if the end of the current value is reached.
  @inlinable @inline(__always)
  public func isAtEnd(_ bytes: Span<UInt8>) throws(Failure) -> Bool {
    if !isIndefinite { return position == end }
    return try isAtEndOfContents(bytes)
  }

  /// Returns the tag of the next value without reading it; `nil` at the end of the current value.
  @inlinable
  public func nextTag(_ bytes: Span<UInt8>) throws(Failure) -> ASN1Tag? {
    if try isAtEnd(bytes) { return nil }
    var ahead = self
    return try ahead.readHeader(bytes).tag
  }

  /// Reads a value of definite length and returns the range of its contents.
  @inlinable @inline(__always)
  public mutating func read(_ tag: ASN1Tag, _ bytes: Span<UInt8>) throws(Failure) -> Range<Int> {
    let start = position
    let header = try readHeader(bytes)
    guard header.tag == tag else { throw unexpected(header.tag, insteadOf: tag, at: start) }
    guard let end = header.end else {
      throw fault(.unsupported, at: start, "The length of a \(tag) is indefinite, where DER is required.")
    }
    position = end
    return header.contents..<end
  }

  /// Returns a reader of the contents of a constructed value.
  ///
  /// Call ``leave(_:_:)`` once that reader has read all of the value.
  @inlinable @inline(__always)
  public func enter(_ tag: ASN1Tag, _ bytes: Span<UInt8>) throws(Failure) -> ASN1Reader {
    var ahead = self
    let header = try ahead.readHeader(bytes)
    guard header.tag == tag else { throw unexpected(header.tag, insteadOf: tag, at: position) }
    guard remainingDepth > 0 else {
      throw fault(.tooDeep, at: position, "Values are nested deeper than the limit.")
    }
    return ASN1Reader(
      position: header.contents, end: header.end ?? end, isIndefinite: header.end == nil, rules: rules,
      part: part, remainingDepth: remainingDepth - 1)
  }

  /// Moves past the value that `child` has read; throws unless `child` is at its end.
  @inlinable @inline(__always)
  public mutating func leave(_ child: ASN1Reader, _ bytes: Span<UInt8>) throws(Failure) {
    try child.requireEnd(bytes)
    position = child.isIndefinite ? child.position + 2 : child.position
  }

  /// Throws unless the end of the current value is reached.
  @inlinable @inline(__always)
  public func requireEnd(_ bytes: Span<UInt8>) throws(Failure) {
    guard try isAtEnd(bytes) else {
      throw fault(.trailingData, at: position, "Something follows where the value should have ended.")
    }
  }

  /// Moves past the next value, of any tag, and returns the range of its octets, header included.
  ///
  /// Values nested inside a value of definite length are not checked.
  @inlinable
  public mutating func skip(_ bytes: Span<UInt8>) throws(Failure) -> Range<Int> {
    let start = position
    let header = try readHeader(bytes)
    position = header.end ?? header.contents
    var openLengths = header.end == nil ? 1 : 0
    while openLengths > 0 {
      let inner = position
      if try isAtEndOfContents(bytes) {
        position += 2
        openLengths -= 1
        continue
      }
      let header = try readHeader(bytes)
      if let end = header.end {
        position = end
      } else {
        openLengths += 1
        guard openLengths <= remainingDepth else {
          throw fault(.tooDeep, at: inner, "Values are nested deeper than the limit.")
        }
      }
    }
    return start..<position
  }

  /// Returns a reader, one level deeper, of DER inside the octets of another value.
  @inlinable
  public func nested(_ range: Range<Int>) throws(Failure) -> ASN1Reader {
    guard remainingDepth > 0 else {
      throw fault(.tooDeep, at: range.lowerBound, "Values are nested deeper than the limit.")
    }
    return ASN1Reader(
      position: range.lowerBound, end: range.upperBound, isIndefinite: false, rules: .der, part: part,
      remainingDepth: remainingDepth - 1)
  }

  /// A reader at the same position that reads under DER.
  @inlinable
  public var underDER: ASN1Reader {
    ASN1Reader(
      position: position, end: end, isIndefinite: isIndefinite, rules: .der, part: part,
      remainingDepth: remainingDepth)
  }

  /// Moves to the position of another reader of the same value.
  @inlinable
  public mutating func advance(to other: ASN1Reader) { position = other.position }

  // MARK: - Headers

  /// Reads identifier and length octets and moves past them.
  @inlinable @inline(__always)
  public mutating func readHeader(_ bytes: Span<UInt8>) throws(Failure) -> Header {
    // Nearly every value in a receipt has one identifier octet and one length octet.
    let start = position
    if end &- start >= 2 {
      let identifier = bytes[start]
      let length = bytes[start &+ 1]
      if identifier & 0x1F != 0x1F, identifier & 0xDF != 0, length < 0x80 {
        let contents = start &+ 2
        let valueEnd = contents &+ Int(length)
        if valueEnd <= end {
          position = contents
          return Header(tag: ASN1Tag(shortForm: identifier), contents: contents, end: valueEnd)
        }
      }
    }
    return try readLongHeader(bytes)
  }

  /// Reads identifier and length octets of any form.
  @inlinable @inline(never)
  public mutating func readLongHeader(_ bytes: Span<UInt8>) throws(Failure) -> Header {
    let start = position
    // Most other values have a length of two octets.
    if end &- start >= 4, bytes[start &+ 1] == 0x82, bytes[start &+ 2] != 0 {
      let identifier = bytes[start]
      let contents = start &+ 4
      let valueEnd = contents &+ (Int(bytes[start &+ 2]) &<< 8 | Int(bytes[start &+ 3]))
      if identifier & 0x1F != 0x1F, identifier & 0xDF != 0, valueEnd <= end {
        position = contents
        return Header(tag: ASN1Tag(shortForm: identifier), contents: contents, end: valueEnd)
      }
    }
    let tag = try readTag(bytes)
    let lengthOffset = position
    let first = try readOctet(bytes)
    var length = 0
    switch first {
    case 0..<0x80:
      length = Int(first)
    case 0x80:
      guard rules == .ber else {
        throw fault(.unsupported, at: lengthOffset, "The length is indefinite, where DER is required.")
      }
      guard tag.isConstructed else {
        throw fault(.invalidValue, at: lengthOffset, "A primitive value has an indefinite length.")
      }
      return Header(tag: tag, contents: position, end: nil)
    case 0xFF:
      throw fault(.invalidValue, at: lengthOffset, "The length octet FF is reserved.")
    default:
      for index in 0..<Int(first & 0x7F) {
        let octet = try readOctet(bytes)
        guard index > 0 || octet != 0 else {
          throw fault(.invalidValue, at: lengthOffset, "The length has leading zeros.")
        }
        guard length <= Int.max >> 8 else {
          throw fault(.outOfRange, at: lengthOffset, "The length does not fit in 64 bits.")
        }
        length = length << 8 | Int(octet)
      }
      guard length >= 0x80 else {
        throw fault(.invalidValue, at: lengthOffset, "The length is in the long form without need.")
      }
    }
    guard length <= end - position else {
      if length > bytes.count - position {
        throw fault(.truncated, at: start, "A value of \(length) bytes ends after the input does.")
      }
      throw fault(
        .invalidValue, at: start, "A value of \(length) bytes reaches past the end of the value around it.")
    }
    return Header(tag: tag, contents: position, end: position + length)
  }

  /// Reads the identifier octets.
  @inlinable @inline(__always)
  public mutating func readTag(_ bytes: Span<UInt8>) throws(Failure) -> ASN1Tag {
    let start = position
    let leading = try readOctet(bytes)
    guard leading & 0x1F == 0x1F else {
      guard leading & 0xDF != 0 else {
        throw fault(.unexpected, at: start, "Found end-of-contents octets where a value should be.")
      }
      return ASN1Tag(shortForm: leading)
    }
    var number: UInt32 = 0
    while true {
      let octet = try readOctet(bytes)
      guard number > 0 || octet != 0x80 else {
        throw fault(.invalidValue, at: start, "The tag number has leading zeros.")
      }
      guard number <= ASN1Tag.greatestNumber >> 7 else {
        throw fault(.outOfRange, at: start, "The tag number is larger than any in use.")
      }
      number = number << 7 | UInt32(octet & 0x7F)
      if octet & 0x80 == 0 { break }
    }
    guard number >= 31 else {
      throw fault(.invalidValue, at: start, "The tag number is in the long form without need.")
    }
    return ASN1Tag(leadingOctet: leading, longFormNumber: number)
  }

  /// Reads one octet.
  @inlinable @inline(__always)
  public mutating func readOctet(_ bytes: Span<UInt8>) throws(Failure) -> UInt8 {
    guard position < end else {
      if position >= bytes.count {
        throw fault(.truncated, at: position, "The input ends where a value should be.")
      }
      throw fault(.invalidValue, at: position, "The value around it ends where a value should be.")
    }
    defer { position += 1 }
    return bytes[position]
  }

  /// Returns `true` if end-of-contents octets follow.
  @inlinable
  public func isAtEndOfContents(_ bytes: Span<UInt8>) throws(Failure) -> Bool {
    guard end - position >= 2 else {
      throw fault(
        end == bytes.count ? .truncated : .invalidValue, at: position,
        "The end-of-contents octets of an indefinite length are missing.")
    }
    return bytes[position] == 0 && bytes[position + 1] == 0
  }

  // MARK: - Errors

  /// Creates an error at an offset.
  @usableFromInline
  package func fault(_ fault: ASN1Fault, at offset: Int, _ message: String) -> Failure {
    Errors.error(fault, at: offset, in: part, message)
  }

  /// Creates the error for a tag other than the required one.
  @usableFromInline
  package func unexpected(_ found: ASN1Tag, insteadOf expected: ASN1Tag, at offset: Int) -> Failure {
    fault(.unexpected, at: offset, "Found a \(found) where a \(expected) should be.")
  }
}
