// SPDX-License-Identifier: Apache-2.0

/// The names of an object's fields, laid out for matching against bytes.
struct JSONFieldNames<Field: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
  let fields: [Field]
  /// All names, one after the other.
  private let text: [UInt8]
  /// Where in `text` each name begins, and where the last one ends.
  private let starts: [Int]

  /// At most 64 fields: an object notes in one word which it has seen.
  init() {
    self.fields = Array(Field.allCases)
    var text: [UInt8] = []
    var starts = [0]
    for field in fields {
      text.append(contentsOf: field.rawValue.utf8)
      starts.append(text.count)
    }
    self.text = text
    self.starts = starts
  }

  /// Which field the current member is. Objects come in much the same order every time, so the search begins
  /// at the field after the one that came before.
  func index(in json: borrowing JSONReader, likely start: Int) throws(MalformedReceipt) -> Int? {
    if json.nameHasEscapes {
      let name = try json.unescape(json.nameRange)
      return index(of: name.span, likely: start)
    }
    return index(of: json.bytes.span.extracting(json.nameRange), likely: start)
  }

  private func index(of name: Span<UInt8>, likely start: Int) -> Int? {
    let text = text.span
    let starts = starts.span
    var index = start
    for _ in fields.indices {
      if index >= fields.count { index = 0 }
      if Self.isEqual(text, from: starts[index], to: starts[index + 1], name) { return index }
      index += 1
    }
    return nil
  }

  private static func isEqual(_ text: Span<UInt8>, from start: Int, to end: Int, _ name: Span<UInt8>) -> Bool
  {
    guard end - start == name.count else { return false }
    for index in name.indices where text[start + index] != name[index] { return false }
    return true
  }
}
