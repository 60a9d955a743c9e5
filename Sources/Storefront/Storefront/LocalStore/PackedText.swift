// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// The texts that packed texts share, by number. They are the headers of signed texts, which contain the certificates
/// and are the largest part of each.
struct SharedTexts: Sendable {
  /// The greatest number of shared texts, which is more than the identities of a store over the years. Later headers
  /// are not shared.
  private static let greatestCount = 64

  private var texts: [UInt8: [UInt8]] = [:]
  private var numbers: [[UInt8]: UInt8] = [:]
  /// The shared texts that are not stored yet.
  private(set) var added: [RecordChange] = []

  subscript(number: UInt8) -> [UInt8]? { texts[number] }

  mutating func restore(_ record: StoredRecord) throws(LocalStoreError) {
    guard let number = UInt8(record.key) else {
      throw LocalStoreError(.corrupt, at: "store-texts/\(record.key)", "Its key is no number.")
    }
    texts[number] = record.value
    numbers[record.value] = number
  }

  /// The number of a text, which is added if there is room; otherwise `nil`.
  mutating func number(of text: [UInt8]) -> UInt8? {
    if let number = numbers[text] { return number }
    guard texts.count < Self.greatestCount else { return nil }
    let number = UInt8(texts.count)
    texts[number] = text
    numbers[text] = number
    added.append(.put(.storeTexts, key: String(number), value: text))
    return number
  }

  mutating func takeAdded() -> [RecordChange] {
    defer { added = [] }
    return added
  }
}

/// A signed text in packed form. It takes an eighth of the original size.
///
/// The text is a compact JWS. Its Base64URL is decoded, also that of other JWS within its payload, and the header is
/// replaced by its number in ``SharedTexts``.
///
/// The packed form is a sequence of parts. Each is a byte for the kind and the content, which is preceded by its
/// length unless the kind implies the length. A JWS within the payload, or the payload itself, may be a text that is
/// stored elsewhere, such as the receipt in a notification.
enum PackedText {
  private enum Part: UInt8 {
    /// Bytes as they are.
    case literal = 1
    /// The number of a shared text.
    case shared
    /// Base64URL of bytes.
    case encoded
    /// Base64URL of a packed text.
    case nested
    /// A text that is stored elsewhere; the part has no content.
    case known
  }

  /// A notification has the JWS of a transaction in its payload, and that JWS contains no further one.
  private static let greatestDepth = 2

  static func joined(_ json: [UInt8], _ packed: [UInt8]) -> [UInt8] { json + [0] + packed }

  /// Splits a record into its parts. Earlier versions have the text in the JSON.
  static func split(_ record: [UInt8]) -> (json: [UInt8], packed: [UInt8]?) {
    guard let end = record.firstIndex(of: 0) else { return (record, nil) }
    return (Array(record[..<end]), Array(record[(end + 1)...]))
  }

  static func pack(_ text: String, _ shared: inout SharedTexts, known: String? = nil) -> [UInt8] {
    let bytes = Array(text.utf8)
    let known = known.map { Array($0.utf8) }
    let packed = pack(bytes[...], &shared, known, depth: 0)
    // Base64URL of another program may differ from our own encoding of the same bytes.
    if unpack(packed, shared, known: known) == bytes { return packed }
    var literal: [UInt8] = []
    append(.literal, bytes, to: &literal)
    return literal
  }

  /// Unpacks a text; `nil` if the bytes are damaged or the known text is missing.
  static func unpack(_ packed: [UInt8], _ shared: SharedTexts, known: [UInt8]? = nil) -> [UInt8]? {
    unpack(packed[...], shared, known, depth: 0)
  }

  private static func pack(
    _ text: ArraySlice<UInt8>, _ shared: inout SharedTexts, _ known: [UInt8]?, depth: Int
  ) -> [UInt8] {
    if let known, text.elementsEqual(known) { return [Part.known.rawValue] }
    var packed: [UInt8] = []
    if depth < greatestDepth, packJWS(text, &shared, known, depth: depth, into: &packed) { return packed }
    guard depth > 0 else {
      append(.literal, Array(text), to: &packed)
      return packed
    }
    // In a payload, each JWS is a string.
    var rest = text
    while let beginning = rest.firstRange(of: Array("\"eyJ".utf8)) {
      let start = beginning.lowerBound + 1
      guard let end = rest[start...].firstIndex(of: UInt8(ascii: "\"")) else { break }
      var inner: [UInt8] = []
      if let known, rest[start..<end].elementsEqual(known) {
        inner = [Part.known.rawValue]
      } else if depth >= greatestDepth
        || !packJWS(rest[start..<end], &shared, known, depth: depth, into: &inner)
      {
        break
      }
      append(.literal, Array(rest[..<start]), to: &packed)
      packed += inner
      rest = rest[end...]
    }
    append(.literal, Array(rest), to: &packed)
    return packed
  }

  private static func packJWS(
    _ text: ArraySlice<UInt8>, _ shared: inout SharedTexts, _ known: [UInt8]?, depth: Int,
    into packed: inout [UInt8]
  ) -> Bool {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = try? Base64URL.decode(Array(parts[1])),
      let signature = try? Base64URL.decode(Array(parts[2])), let header = shared.number(of: Array(parts[0]))
    else { return false }
    let dot = UInt8(ascii: ".")
    packed += [Part.shared.rawValue, header]
    append(.literal, [dot], to: &packed)
    append(.nested, pack(payload[...], &shared, known, depth: depth + 1), to: &packed)
    append(.literal, [dot], to: &packed)
    append(.encoded, signature, to: &packed)
    return true
  }

  private static func append(_ part: Part, _ content: [UInt8], to packed: inout [UInt8]) {
    guard part != .literal || !content.isEmpty else { return }
    packed.append(part.rawValue)
    var count = content.count
    while count >= 0x80 {
      packed.append(UInt8(truncatingIfNeeded: count) | 0x80)
      count >>= 7
    }
    packed.append(UInt8(truncatingIfNeeded: count))
    packed += content
  }

  private static func unpack(
    _ packed: ArraySlice<UInt8>, _ shared: SharedTexts, _ known: [UInt8]?, depth: Int
  ) -> [UInt8]? {
    guard depth <= greatestDepth else { return nil }
    var text: [UInt8] = []
    var rest = packed
    while let kind = rest.popFirst() {
      guard let part = Part(rawValue: kind) else { return nil }
      switch part {
      case .shared:
        guard let number = rest.popFirst(), let found = shared[number] else { return nil }
        text += found
      case .known:
        guard let known else { return nil }
        text += known
      case .literal, .encoded, .nested:
        guard let content = popContent(of: &rest),
          let inner = part == .nested ? unpack(content, shared, known, depth: depth + 1) : Array(content)
        else { return nil }
        text += part == .literal ? inner : Array(Base64URL.encode(inner))
      }
    }
    return text
  }

  private static func popContent(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var count = 0
    var shift = 0
    while true {
      guard shift < 28, let byte = rest.popFirst() else { return nil }
      count |= Int(byte & 0x7F) << shift
      guard byte & 0x80 != 0 else { break }
      shift += 7
    }
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}
