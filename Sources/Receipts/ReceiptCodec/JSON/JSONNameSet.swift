// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The member names of one object seen so far, to refuse a second occurrence (RFC 8259, section 4, leaves its
/// meaning open, which is how two parsers see two receipts).
///
/// Names are equal when their bytes are. A few are compared one by one; many are hashed.
struct JSONNameSet {
  private var few: [String] = []
  private var many: Set<Name> = []

  /// False if the name is there already.
  mutating func insert(_ name: String) -> Bool {
    if many.isEmpty {
      guard !few.contains(where: { UTF8Text.isIdentical($0, name) }) else { return false }
      few.append(name)
      if few.count == 16 { many = Set(few.map(Name.init)) }
      return true
    }
    return many.insert(Name(text: name)).inserted
  }

  /// Hashed by its bytes: `String` hashes canonically equivalent spellings alike, and there can be many.
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
