// SPDX-License-Identifier: Apache-2.0

extension ASN1Reader {
  /// Reads an INTEGER and returns the range of its octets.
  ///
  /// There is at least one octet, and no more than the value needs (X.690 section 8.3.2).
  @inlinable @inline(__always)
  public mutating func readInteger(_ bytes: Span<UInt8>) throws(Failure) -> Range<Int> {
    let start = position
    let contents = try read(.integer, bytes)
    if contents.count == 1 { return contents }
    try requireMinimalInteger(contents, startingAt: start, bytes)
    return contents
  }

  /// Reads an INTEGER that fits in 64 bits.
  @inlinable @inline(__always)
  public mutating func readInt64(_ bytes: Span<UInt8>) throws(Failure) -> Int64 {
    let start = position
    let contents = try readInteger(bytes)
    guard contents.count <= 8 else {
      throw fault(.outOfRange, at: start, "The INTEGER does not fit in 64 bits.")
    }
    var value: Int64 = bytes[contents.lowerBound] & 0x80 == 0 ? 0 : -1
    for index in contents { value = value << 8 | Int64(bytes[index]) }
    return value
  }

  package mutating func readObjectIdentifier(_ bytes: Span<UInt8>) throws(Failure) -> ObjectIdentifier {
    let start = position
    let contents = try read(.objectIdentifier, bytes)
    guard let identifier = ObjectIdentifier(contents: Array(copying: bytes, contents)) else {
      throw fault(.invalidValue, at: start, "The OBJECT IDENTIFIER is not well formed.")
    }
    return identifier
  }

  /// Reads a NULL.
  @inlinable
  public mutating func readNull(_ bytes: Span<UInt8>) throws(Failure) {
    let start = position
    guard try read(.null, bytes).isEmpty else {
      throw fault(.invalidValue, at: start, "A NULL has contents.")
    }
  }

  /// Reads an OCTET STRING and returns the range of each of its segments.
  ///
  /// Only BER allows more than one segment, and segments that have segments themselves (X.690 section 8.7.3).
  @inlinable
  public mutating func readOctetString(_ bytes: Span<UInt8>) throws(Failure) -> [Range<Int>] {
    guard rules == .ber, try nextTag(bytes) == .constructedOctetString else {
      return [try read(.octetString, bytes)]
    }
    var pieces: [Range<Int>] = []
    var parents = [self]
    var current = try enter(.constructedOctetString, bytes)
    while true {
      switch try current.nextTag(bytes) {
      case nil:
        guard var parent = parents.popLast() else { return pieces }
        try parent.leave(current, bytes)
        current = parent
        if parents.isEmpty {
          self = current
          return pieces
        }
      case ASN1Tag.constructedOctetString:
        parents.append(current)
        current = try current.enter(.constructedOctetString, bytes)
      default:
        pieces.append(try current.read(.octetString, bytes))
      }
    }
  }

  /// Throws if an INTEGER has more octets than it needs.
  @inlinable @inline(never)
  public func requireMinimalInteger(
    _ contents: Range<Int>, startingAt start: Int, _ bytes: Span<UInt8>
  ) throws(Failure) {
    guard contents.count > 1 else {
      throw fault(.invalidValue, at: start, "An INTEGER has no contents.")
    }
    let first = bytes[contents.lowerBound]
    let secondIsNegative = bytes[contents.lowerBound + 1] & 0x80 != 0
    guard !(first == 0x00 && !secondIsNegative), !(first == 0xFF && secondIsNegative) else {
      throw fault(.invalidValue, at: start, "An INTEGER has more octets than it needs.")
    }
  }

  /// Reads a value of definite length with any tag.
  @inlinable
  public mutating func readElement(_ bytes: Span<UInt8>) throws(Failure) -> ASN1Element {
    let start = position
    let header = try readHeader(bytes)
    guard let end = header.end else {
      throw fault(.unsupported, at: start, "The length is indefinite, where DER is required.")
    }
    position = end
    return ASN1Element(tag: header.tag, encoded: start..<end, contents: header.contents..<end)
  }
}

extension [UInt8] {
  /// Creates a copy of a range of a span; the range must lie within the span.
  @inlinable @inline(__always)
  public init(copying bytes: Span<UInt8>, _ range: Range<Int>) {
    self.init(capacity: range.count) { output in
      for index in range { output.append(bytes[index]) }
    }
  }
}
