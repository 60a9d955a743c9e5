// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A set of attributes that has a field for each of the types in its table, `WireTypes/ReceiptCodec/AppReceipt.wire`.
protocol AttributeSet {
  /// The decoded set, exactly as signed.
  var source: ArraySlice<UInt8>? { get }
  /// Indicates whether a field was set after decoding, so that ``source`` is out of date.
  var isChanged: Bool { get }
  /// Further attributes to write, besides those that have a field.
  var additionalAttributes: [AppReceiptAttribute] { get }

  /// Returns `true` if attributes of the type have a field.
  static func hasField(forType type: Int) -> Bool
  func addFields(to list: inout AttributeListWriter)
}

extension AttributeSet {
  /// The set of attributes in DER: the decoded bytes if no field was set since, or else a new encoding with the
  /// attributes that were decoded and have no field.
  var encodedSet: ArraySlice<UInt8> {
    if let source, !isChanged { return source }
    var list = AttributeListWriter()
    addFields(to: &list)
    if let source {
      list.add(AppReceiptAttribute.all(in: source).filter { !Self.hasField(forType: $0.type) })
    }
    list.add(additionalAttributes)
    return list.encodedSet()[...]
  }
}

/// Collects attributes and encodes them as a sorted set.
struct AttributeListWriter {
  private var attributes: [[UInt8]] = []

  mutating func add(octets value: [UInt8]?, as type: Int, version: Int = 1) {
    guard let value else { return }
    add([AppReceiptAttribute(type: type, version: version, value: value[...])])
  }

  mutating func add(text: String?, as type: Int) { add(octets: text.map(Self.value(text:)), as: type) }

  /// Adds text as an IA5String if it is ASCII, or else as a UTF8String.
  mutating func add(ia5Text text: String?, as type: Int) {
    guard let text, text.utf8.allSatisfy({ $0 < 0x80 }) else { return add(text: text, as: type) }
    add(octets: ASN1Writer.encoding { $0.write(ia5String: text) }, as: type)
  }

  mutating func add(integer: Int64?, as type: Int) {
    add(octets: integer.map { number in ASN1Writer.encoding { $0.write(integer: number) } }, as: type)
  }

  mutating func add(flag: Bool?, as type: Int) { add(integer: flag.map { $0 ? 1 : 0 }, as: type) }

  /// Adds a date as an IA5String; one that has no year of four digits is omitted.
  mutating func add(date: Timestamp?, as type: Int) {
    guard let date, date.hasFourDigitYear else { return }
    add(ia5Text: date.wholeMilliseconds % 1000 == 0 ? date.iso8601Seconds : date.iso8601, as: type)
  }

  mutating func add(_ more: [AppReceiptAttribute]) {
    for attribute in more { attributes.append(attribute.encoded()) }
  }

  func encodedSet() -> [UInt8] { ASN1Writer.encoding { $0.writeSet(of: attributes) } }

  static func value(text: String) -> [UInt8] { ASN1Writer.encoding { $0.write(utf8String: text) } }
}

extension AppReceiptAttribute {
  func encoded() -> [UInt8] {
    ASN1Writer.encoding(.sequence) { sequence in
      sequence.write(integer: Int64(type))
      sequence.write(integer: Int64(version))
      sequence.write(octetString: value)
    }
  }

  /// Returns the attributes of a set that has already been decoded.
  static func all(in set: ArraySlice<UInt8>) -> [AppReceiptAttribute] {
    let bytes = set.span
    var attributes: [AppReceiptAttribute] = []
    var top = ReceiptASN1Reader(0..<bytes.count, part: AppReceiptPayload.part)
    do throws(MalformedReceipt) {
      var reader = try top.enter(.set, bytes)
      while try !reader.isAtEnd(bytes) {
        let raw = try RawAttribute(reading: &reader, bytes)
        let range = (set.startIndex + raw.value.lowerBound)..<(set.startIndex + raw.value.upperBound)
        attributes.append(AppReceiptAttribute(type: raw.type, version: raw.version, value: set[range]))
      }
      try top.leave(reader, bytes)
    } catch {
      // Not reached: decoding has rejected a malformed set.
    }
    return attributes
  }
}
