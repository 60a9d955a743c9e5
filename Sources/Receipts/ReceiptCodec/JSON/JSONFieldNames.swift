// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Names laid out for matching against bytes.
package struct NameTable: Sendable {
  private let names: [[UInt8]]
  private let fingerprints: [UInt64]

  package init(_ names: [String]) {
    self.names = names.map { Array($0.utf8) }
    fingerprints = self.names.map { ByteSearch.fingerprint($0.span) }
  }

  /// The index of a name. The search begins at the one that is likely.
  func index(of name: Span<UInt8>, likely start: Int) -> Int? {
    let fingerprint = ByteSearch.fingerprint(name)
    let fingerprints = fingerprints.span
    for index in start..<max(start, fingerprints.count) where fingerprints[index] == fingerprint {
      if isName(index, name) { return index }
    }
    for index in 0..<min(start, fingerprints.count) where fingerprints[index] == fingerprint {
      if isName(index, name) { return index }
    }
    return nil
  }

  private func isName(_ index: Int, _ name: Span<UInt8>) -> Bool {
    let candidate = names[index]
    return ByteSearch.isEqual(candidate.span, name)
  }
}

/// The names of an object's fields.
package struct JSONFieldNames<Field: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
  let fields: [Field]
  /// A bit for each field, by its place in `fields`: whether an object without it is refused.
  let required: UInt64
  private let names: NameTable

  /// At most 64 fields: an object notes in one word which it has seen.
  package init(required: [Field] = []) {
    let fields = Array(Field.allCases)
    self.fields = fields
    self.required = required.reduce(0) { bits, field in
      bits | 1 &<< UInt64(fields.firstIndex { $0.rawValue == field.rawValue } ?? 0)
    }
    names = NameTable(fields.map(\.rawValue))
  }

  /// Which field the current member is. Objects come in much the same order every time, so the search begins
  /// at the field after the one that came before.
  func index(in json: borrowing JSONReader, likely start: Int) throws(MalformedReceipt) -> Int? {
    if json.nameHasEscapes {
      let name = try json.unescape(json.nameRange)
      return names.index(of: name.span, likely: start)
    }
    return names.index(of: json.bytes.span.extracting(json.nameRange), likely: start)
  }
}
