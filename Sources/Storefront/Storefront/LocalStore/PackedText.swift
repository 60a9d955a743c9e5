// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// Texts that packed ones have in common, by number: the headers of signed texts, which contain the certificates and
/// are the greatest part of each.
struct SharedTexts: Sendable {
  /// More than a store's identities over the years; later headers are not shared.
  private static let greatestCount = 64

  private var texts: [UInt8: [UInt8]] = [:]
  private var numbers: [[UInt8]: UInt8] = [:]
  /// Those that are not stored yet.
  private(set) var added: [RecordChange] = []

  subscript(number: UInt8) -> [UInt8]? { texts[number] }

  mutating func restore(_ record: StoredRecord) throws(LocalStoreError) {
    guard let number = UInt8(record.key) else {
      throw LocalStoreError(.corrupt, at: "store-texts/\(record.key)", "Its key is no number.")
    }
    texts[number] = record.value
    numbers[record.value] = number
  }

  /// The number of a text; `nil` for one that is not shared.
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

/// A signed text as the store keeps it: a compact JWS without its Base64URL and, within its payload, those of other
/// JWS, with the header as a number of ``SharedTexts``. It takes an eighth of the text.
///
/// It is a sequence of parts: a byte for the kind, and the content, with its length before it unless the kind says it. A
/// JWS within the payload, or the payload, may be a text that is kept elsewhere, such as the receipt in a notification.
enum PackedText {
  private enum Part: UInt8 {
    /// Bytes as they are.
    case literal = 1
    /// A shared text, by its number.
    case shared
    /// Base64URL of bytes.
    case encoded
    /// Base64URL of a packed text.
    case nested
    /// A text that is kept elsewhere, without content.
    case known
  }

  /// A notification has the JWS of a transaction in its payload, which has none.
  private static let greatestDepth = 2

  /// A record of JSON and a packed text.
  static func joined(_ json: [UInt8], _ packed: [UInt8]) -> [UInt8] { json + [0] + packed }

  /// The parts of a record. Earlier versions have the text in the JSON.
  static func split(_ record: [UInt8]) -> (json: [UInt8], packed: [UInt8]?) {
    guard let end = record.firstIndex(of: 0) else { return (record, nil) }
    return (Array(record[..<end]), Array(record[(end + 1)...]))
  }

  static func pack(_ text: String, _ shared: inout SharedTexts, known: String? = nil) -> [UInt8] {
    let bytes = Array(text.utf8)
    let known = known.map { Array($0.utf8) }
    let packed = pack(bytes[...], &shared, known, depth: 0)
    // Base64URL that another program wrote need not be what decoding and encoding give.
    if unpack(packed, shared, known: known) == bytes { return packed }
    var literal: [UInt8] = []
    append(.literal, bytes, to: &literal)
    return literal
  }

  /// The text; `nil` for damaged bytes, or where the known text is missing.
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
    // A payload: the JWS in it are strings.
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
      case .encoded:
        guard let content = popContent(of: &rest) else { return nil }
        text += Base64URL.encode(Array(content))
      case .nested:
        guard let content = popContent(of: &rest),
          let inner = unpack(content, shared, known, depth: depth + 1)
        else { return nil }
        text += Base64URL.encode(inner)
      case .literal:
        guard let content = popContent(of: &rest) else { return nil }
        text += content
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
