// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// An attribute during decoding. Its value is a range of the payload; nothing is copied yet.
struct RawAttribute {
  let type: Int
  let version: Int
  let value: Range<Int>
  /// The index of the in-app purchase that the attribute belongs to.
  var inAppIndex: Int?

  @inline(__always)
  init(
    reading reader: inout ReceiptASN1Reader, inAppIndex: Int? = nil, _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) {
    self.inAppIndex = inAppIndex
    if let common = CommonForm(at: reader.position, before: reader.end, bytes) {
      type = common.type
      version = common.version
      value = common.value
      reader.position = common.value.upperBound
      return
    }
    var sequence = try reader.enter(.sequence, bytes)
    type = Int(try sequence.readInt64(bytes))
    version = Int(try sequence.readInt64(bytes))
    value = try sequence.read(.octetString, bytes)
    try reader.leave(sequence, bytes)
  }

  /// The form of all but the longest attributes: every length is one octet, the type one or two, the version one. It is
  /// read in one step, because a receipt consists almost entirely of such attributes.
  private struct CommonForm {
    let type: Int
    let version: Int
    let value: Range<Int>

    /// Reads an attribute; `nil` if it has another form or is malformed.
    @inline(__always)
    init?(at start: Int, before end: Int, _ bytes: Span<UInt8>) {
      // 30 L 02 2 T T 02 1 V 04 L, or one octet shorter.
      guard end &- start >= 11, bytes[start] == 0x30, bytes[start &+ 2] == 0x02 else { return nil }
      let length = bytes[start &+ 1]
      let valueEnd = start &+ 2 &+ Int(length)
      let afterType: Int
      let high = bytes[start &+ 4]
      switch bytes[start &+ 3] {
      case 1:
        guard high < 0x80 else { return nil }
        type = Int(high)
        afterType = start &+ 5
      case 2:
        guard 1..<0x80 ~= high else { return nil }
        type = Int(high) &<< 8 | Int(bytes[start &+ 5])
        afterType = start &+ 6
      default: return nil
      }
      let valueStart = afterType &+ 5
      guard length < 0x80, valueEnd <= end, valueStart <= valueEnd, bytes[afterType] == 0x02,
        bytes[afterType &+ 1] == 1, bytes[afterType &+ 2] < 0x80, bytes[afterType &+ 3] == 0x04,
        Int(bytes[afterType &+ 4]) == valueEnd &- valueStart
      else { return nil }
      version = Int(bytes[afterType &+ 2])
      value = valueStart..<valueEnd
    }
  }

  func octets(_ bytes: Span<UInt8>) -> [UInt8] { Array(copying: bytes, value) }

  /// Returns the value as text, in a UTF8String or an IA5String: signers confuse the two.
  @inline(__always)
  func text(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> String {
    guard let text = UTF8Text.string(bytes.extracting(try textContents(bytes))) else {
      throw failure(.invalidUTF8, "The text is not valid UTF-8.")
    }
    return text
  }

  /// Returns the value as text, and reuses `likely`, the last text read, if it is equal. A receipt repeats a few
  /// products many times, and an original transaction once for each renewal.
  @inline(__always)
  func text(_ bytes: Span<UInt8>, likely: inout String?) throws(MalformedReceipt) -> String {
    if let last = likely {
      let contents = bytes.extracting(try textContents(bytes))
      let spelling = last.utf8.span
      if ByteSearch.isEqual(spelling, contents) { return last }
    }
    let text = try text(bytes)
    likely = text
    return text
  }

  /// Returns the value as a date in RFC 3339; `nil` if the text is empty, the App Store's form for no date.
  @inline(__always)
  func date(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> Timestamp? {
    let contents = try textContents(bytes)
    if contents.isEmpty { return nil }
    guard let date = Timestamp(iso8601: bytes.extracting(contents)) else {
      throw failure(.invalidValue, "The text is not a date such as 2025-10-01T07:09:12Z.")
    }
    return date
  }

  @inline(__always)
  func int64(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> Int64 {
    let start = value.lowerBound
    if value.count == 3, bytes[start] == 0x02, bytes[start &+ 1] == 1 {
      return Int64(Int8(bitPattern: bytes[start &+ 2]))
    }
    return try int64InFull(bytes)
  }

  @inline(never)
  private func int64InFull(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> Int64 {
    do throws(MalformedReceipt) {
      var reader = ReceiptASN1Reader(value, part: AppReceiptPayload.part)
      let number = try reader.readInt64(bytes)
      try reader.requireEnd(bytes)
      return number
    } catch {
      throw placed(error, bytes)
    }
  }

  /// Returns the value as a Boolean: `false` for 0, `true` for 1.
  func flag(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> Bool {
    let number = try int64(bytes)
    guard number == 0 || number == 1 else {
      throw failure(.invalidValue, "The flag is \(number), neither 0 nor 1.")
    }
    return number == 1
  }

  @inline(__always)
  private func textContents(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> Range<Int> {
    let start = value.lowerBound
    if value.count >= 2, bytes[start] == 0x0C || bytes[start] == 0x16, bytes[start &+ 1] < 0x80,
      start &+ 2 &+ Int(bytes[start &+ 1]) == value.upperBound
    {
      return (start &+ 2)..<value.upperBound
    }
    return try textContentsInFull(bytes)
  }

  @inline(never)
  private func textContentsInFull(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> Range<Int> {
    do throws(MalformedReceipt) {
      var reader = ReceiptASN1Reader(value, part: AppReceiptPayload.part)
      let isIA5 = value.isEmpty ? false : bytes[value.lowerBound] == 0x16
      let contents = try reader.read(isIA5 ? .ia5String : .utf8String, bytes)
      try reader.requireEnd(bytes)
      return contents
    } catch {
      throw placed(error, bytes)
    }
  }

  /// Converts an error of the reader to one that is placed at the attribute instead of at an offset.
  @inline(never)
  private func placed(_ error: MalformedReceipt, _ bytes: Span<UInt8>) -> MalformedReceipt {
    if value.isEmpty { return failure(.invalidValue, "The value has no octets.") }
    switch error.code {
    case .unexpected: return failure(.wrongType, error.message)
    case .truncated: return failure(.invalidValue, "The value is longer than the attribute.")
    default: return failure(error.code, error.message)
    }
  }

  @inline(never)
  func failure(_ code: MalformedReceipt.Code, _ message: String) -> MalformedReceipt {
    MalformedReceipt(code, at: .attribute(type: type, inAppIndex: inAppIndex), message)
  }
}

/// The attribute types already read from one set, to reject repeated attributes. Two parsers could interpret a repeated
/// attribute differently and so see two different receipts.
struct SeenAttributeTypes {
  /// The first of the 64 types that are stored as bits; all known types are among them.
  private let base: Int
  private var bits: UInt64 = 0
  private var others: Set<Int>?

  init(base: Int) { self.base = base }

  /// Inserts a type; returns `true` if it was not in the set.
  @inline(__always)
  mutating func insert(_ type: Int) -> Bool {
    let index = type &- base
    guard index >= 0, index < 64 else { return insertOther(type) }
    let bit: UInt64 = 1 << UInt64(index)
    defer { bits |= bit }
    return bits & bit == 0
  }

  private mutating func insertOther(_ type: Int) -> Bool {
    var types = others ?? []
    others = nil
    defer { others = types }
    return types.insert(type).inserted
  }
}
