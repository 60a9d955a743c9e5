// SPDX-License-Identifier: Apache-2.0

/// An attribute while it is being decoded: its value is a place in the payload, nothing is copied yet.
struct RawAttribute {
  let type: Int
  let version: Int
  let value: Range<Int>
  /// The in-app purchase that the attribute belongs to.
  var inAppIndex: Int?

  /// Reads the attribute that `reader` has before it.
  @inline(__always)
  init(
    reading reader: inout ASN1Reader, inAppIndex: Int? = nil, _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) {
    var sequence = try reader.enter(.sequence, bytes)
    type = Int(try sequence.readInt64(bytes))
    version = Int(try sequence.readInt64(bytes))
    value = try sequence.read(.octetString, bytes)
    try reader.leave(sequence, bytes)
    self.inAppIndex = inAppIndex
  }

  /// The value as it is.
  func octets(_ bytes: Span<UInt8>) -> [UInt8] { Array(copying: bytes, value) }

  /// The value as text. UTF8String and IA5String are taken for each other, since signers confuse them.
  @inline(__always)
  func text(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> String {
    guard let text = UTF8Text.string(bytes.extracting(try textContents(bytes))) else {
      throw failure(.invalidUTF8, "The text is not valid UTF-8.")
    }
    return text
  }

  /// The value as a date in RFC 3339; `nil` when the text is empty, which is how the App Store writes none.
  @inline(__always)
  func date(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> Timestamp? {
    let contents = try textContents(bytes)
    if contents.isEmpty { return nil }
    guard let date = Timestamp(iso8601: bytes.extracting(contents)) else {
      throw failure(.invalidValue, "The text is not a date such as 2025-10-01T07:09:12Z.")
    }
    return date
  }

  /// The value as a number of 64 bits.
  @inline(__always)
  func int64(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> Int64 {
    do throws(MalformedReceipt) {
      var reader = ASN1Reader(value, part: AppReceiptPayload.part)
      let number = try reader.readInt64(bytes)
      try reader.requireEnd(bytes)
      return number
    } catch {
      throw placed(error, bytes)
    }
  }

  /// The value as a flag: the number 0 or 1.
  func flag(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> Bool {
    let number = try int64(bytes)
    guard number == 0 || number == 1 else {
      throw failure(.invalidValue, "The flag is \(number), neither 0 nor 1.")
    }
    return number == 1
  }

  @inline(__always)
  private func textContents(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> Range<Int> {
    do throws(MalformedReceipt) {
      var reader = ASN1Reader(value, part: AppReceiptPayload.part)
      let isIA5 = value.isEmpty ? false : bytes[value.lowerBound] == 0x16
      let contents = try reader.read(isIA5 ? .ia5String : .utf8String, bytes)
      try reader.requireEnd(bytes)
      return contents
    } catch {
      throw placed(error, bytes)
    }
  }

  /// An error of the reader, placed at the attribute instead of at an offset.
  @inline(never)
  private func placed(_ error: MalformedReceipt, _ bytes: Span<UInt8>) -> MalformedReceipt {
    if value.isEmpty { return failure(.invalidValue, "The value has no octets.") }
    return failure(error.code == .unexpected ? .wrongType : error.code, error.message)
  }

  @inline(never)
  func failure(_ code: MalformedReceipt.Code, _ message: String) -> MalformedReceipt {
    MalformedReceipt(code, at: .attribute(type: type, inAppIndex: inAppIndex), message)
  }
}

/// The attribute types met so far in one set, to refuse repeats: two parsers of a repeated attribute may
/// see two receipts.
struct SeenAttributeTypes {
  /// The first of the 64 types that are kept as bits; all the real ones are among them.
  private let base: Int
  private var bits: UInt64 = 0
  private var others: Set<Int> = []

  init(base: Int) { self.base = base }

  /// Whether the type is met for the first time.
  @inline(__always)
  mutating func insert(_ type: Int) -> Bool {
    let index = type &- base
    guard index >= 0, index < 64 else { return others.insert(type).inserted }
    let bit: UInt64 = 1 << UInt64(index)
    defer { bits |= bit }
    return bits & bit == 0
  }
}
