// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The member names already read from one object, to reject duplicates. RFC 8259, section 4, does not define the
/// meaning of duplicate names, so two parsers could see two different receipts. Names are equal if their bytes are.
/// Fewer than 16 names are compared one by one; more are hashed.
struct JSONNameSet {
  private var few: [String] = []
  private var many: Set<Name> = []

  /// Inserts a name; returns `false` if it is already in the set.
  mutating func insert(_ name: String) -> Bool {
    if many.isEmpty {
      guard !few.contains(where: { UTF8Text.isIdentical($0, name) }) else { return false }
      few.append(name)
      if few.count == 16 { many = Set(few.map(Name.init)) }
      return true
    }
    return many.insert(Name(text: name)).inserted
  }

  /// A name that is hashed by its bytes. `String` gives all canonically equivalent spellings one hash, and there can be
  /// many.
  private struct Name: Hashable {
    let text: String

    static func == (lhs: Name, rhs: Name) -> Bool { UTF8Text.isIdentical(lhs.text, rhs.text) }

    func hash(into hasher: inout Hasher) {
      var word: UInt64 = 0
      var count = 0
      for byte in text.utf8 {
        word = word << 8 | UInt64(byte)
        count += 1
        if count % 8 == 0 { hasher.combine(word) }
      }
      hasher.combine(word)
      hasher.combine(count)
    }
  }
}
