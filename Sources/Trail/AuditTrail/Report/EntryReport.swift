// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
package import ReceiptCrypto

extension EntryReport {
  package enum Value {
    case text(String)
    case number(UInt64)
    case checks([RecordedCheck])

    package static func instant(_ milliseconds: Int64) -> Value { .text(EntryReport.instant(milliseconds)) }
    package static func digest(_ digest: SHA256Digest) -> Value { .text(digest.hexadecimal) }
  }

  package init(_ recorded: RecordedEntry, in view: TrailView, showsCustomer: Bool = false) throws {
    self.init(index: recorded.index, entry: recorded.entry)
    guard recorded.entry.commitment != nil else { return }
    let part: ErasablePart?
    do { part = try view.erasablePart(at: recorded.index) } catch let error as AuditError
      where error.code == .keysMissing
    {
      erasable = .noKeys
      return
    }
    erasable = part == nil ? .erased : .kept
    if showsCustomer { customer = part?.customerToken }
  }

  package func append(to object: inout JSONWriter) {
    for (name, value) in columns {
      switch value {
      case .text(let text)?: object.member(name, text)
      case .number(let number)?: object.member(name, number)
      case .checks(let checks)?:
        object.name(name)
        Self.append(checks, to: &object)
      case nil: continue
      }
    }
    object.member("customer", customer)
  }

  package static func append(_ checks: [RecordedCheck], to object: inout JSONWriter) {
    object.beginArray()
    for check in checks {
      object.beginObject()
      object.member("name", check.name)
      object.member("answer", check.answer.rawValue)
      object.endObject()
    }
    object.endArray()
  }

  /// The recorded values with their names, which are always the same and in the same order.
  package var columns: [(name: String, value: Value?)] {
    [("index", .number(index))] + EntryField.allCases.map { ($0.column, entry[$0]) }
      + [("erasable", erasable.map { .text($0.rawValue) })]
  }

  package static let integerColumns =
    ["index"] + EntryField.allCases.filter { $0.form == .number || $0.form == .index }.map(\.column)

  package static func instant(_ milliseconds: Int64) -> String {
    Timestamp(millisecondsSince1970: Double(milliseconds)).iso8601
  }
}

extension JSONWriter {
  /// Writes a number, or a text if JSON readers would lose precision.
  package mutating func member(_ name: String, _ value: UInt64?) {
    guard let value else { return }
    self.name(name)
    // Larger integers are strings, because JSON readers would lose precision.
    if let small = Int64(exactly: value), small < 1 << 53 { integer(small) } else { string(String(value)) }
  }
}

extension TrailView {
  /// Calls `body` with all entries in order, with one bundle in memory at a time. Entries are verified against the
  /// tree, erasable parts against the commitments, and forgotten keys against the erasures, in both directions. Throws
  /// ``AuditError/Code/tampered``, ``StorageError``, and the errors of `body`.
  package func forEachRow(_ body: (EntryReport) throws -> Void) throws {
    var parts = ErasableParts(reader)
    try entries.forEach(in: 0..<size) { index, stored in
      let entry = try RecordedEntry(index: index, bytes: stored.entry).entry
      if entry.kind == .erasure, let erased = entry.erased, try parts.hasKey(of: erased) {
        throw EntryLookup.keyIsBack(of: erased, erasure: index)
      }
      let erasable: EntryReport.Erasable? = try entry.commitment.map { commitment in
        guard try parts.bytes(at: index, stored, commitment: commitment) == nil else { return .kept }
        try lookup.requireErasure(of: index)
        return .erased
      }
      try body(EntryReport(index: index, entry: entry, erasable: erasable))
    }
  }
}
