// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import TransparencyLog

/// All entries of one original transaction in a trail, up to an anchor, checked for completeness.
///
/// Each entry of an original transaction names the one before it. So all entries can be reached from the newest, and
/// none in between can be omitted. An anchor states which entry is the newest. The anchor is an entry itself: the trail
/// commits to it, and any reader of the whole trail can contradict it.
package struct CompleteHistory: Sendable, Hashable {
  package let original: String
  /// Its entries before the anchor, oldest first.
  package let entries: [ProvenEntry]
  package let anchor: ProvenEntry
  /// The number of entries of the whole trail that the anchor covers.
  package let size: UInt64

  /// Checks that proven entries, in any order, are all entries up to the newest anchor among them.
  package init(_ proven: [ProvenEntry]) throws(IncompleteHistory) {
    let anchors = proven.filter { $0.entry.kind == .anchor }
    guard let anchor = anchors.max(by: { $0.index < $1.index }), let original = anchor.entry.original,
      let size = anchor.entry.size, let count = anchor.entry.count
    else { throw .noAnchor }
    let byIndex = Dictionary(proven.map { ($0.index, $0.entry) }) { first, _ in first }
    guard size <= anchor.index, anchor.entry.previous == anchor.entry.newest else {
      throw .contradiction(index: anchor.index)
    }

    var line: [ProvenEntry] = []
    var bound = size
    var next = anchor.entry.newest
    while let index = next {
      // Indexes decrease, so the loop ends.
      guard index < bound else { throw .contradiction(index: index) }
      guard let entry = byIndex[index] else { throw .missing(index: index) }
      guard let named = entry.original, UTF8Text.isIdentical(named, original) else {
        throw .contradiction(index: index)
      }
      line.append(ProvenEntry(index: index, entry: entry))
      bound = index
      next = entry.previous
    }
    guard UInt64(line.count) == count else { throw .contradiction(index: anchor.index) }
    self.original = original
    self.entries = line.reversed()
    self.anchor = anchor
    self.size = size
  }
}

/// The reason that entries are not, or are not shown to be, all entries of their original transaction.
package enum IncompleteHistory: Error, Sendable, Hashable, CustomStringConvertible {
  /// The entries contain no anchor of an original transaction.
  case noAnchor
  /// An entry that others lead to is missing.
  case missing(index: UInt64)
  /// An entry does not lead to the one before it, or the anchor's count is not the number of entries.
  case contradiction(index: UInt64)

  package var description: String {
    switch self {
    case .noAnchor: "No anchor is among the entries; it says which entry is the newest."
    case .missing(let index): "Entry \(index) is missing; its proof is needed too."
    case .contradiction(let index):
      "Entry \(index) does not go with the others: the trail contradicts itself."
    }
  }
}
