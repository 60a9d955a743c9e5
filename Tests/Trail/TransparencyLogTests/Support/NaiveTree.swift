// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// A tree by the book, row by row: a node without a right sibling goes up as it is.
struct NaiveTree {
  let size: Int
  /// `rows[h][i]` covers the entries i * 2^h up to (i + 1) * 2^h, as far as there are any.
  let rows: [[TreeHash]]

  init(_ leafHashes: ArraySlice<TreeHash>) {
    size = leafHashes.count
    var rows = [Array(leafHashes)]
    while var row = rows.last, row.count > 1 {
      let odd = row.count % 2 == 1 ? row.removeLast() : nil
      var next: [TreeHash] = []
      next.reserveCapacity(row.count / 2 + 1)
      for index in stride(from: 0, to: row.count, by: 2) { next.append(.node(row[index], row[index + 1])) }
      if let odd { next.append(odd) }
      rows.append(next)
    }
    self.rows = rows
  }

  var root: TreeHash { rows.last?.first ?? .empty }

  /// PATH(m, D[n]) of RFC 6962 section 2.1.1.
  func inclusionProof(_ index: Int) -> [TreeHash] {
    var proof: [TreeHash] = []
    var node = index
    for row in rows {
      if node ^ 1 < row.count { proof.append(row[node ^ 1]) }
      node /= 2
    }
    return proof
  }

  /// PROOF(m, D[n]) of RFC 6962 section 2.1.2, as it is written there.
  func consistencyProof(from oldSize: Int) -> [TreeHash] {
    subproof(oldSize, 0..<size, isOldTree: true)
  }

  private func subproof(_ m: Int, _ range: Range<Int>, isOldTree: Bool) -> [TreeHash] {
    if m == range.count { return isOldTree ? [] : [hash(range)] }
    var k = 1
    while 2 * k < range.count { k *= 2 }
    let middle = range.lowerBound + k
    if m <= k {
      return subproof(m, range.lowerBound..<middle, isOldTree: isOldTree) + [hash(middle..<range.upperBound)]
    }
    return subproof(m - k, middle..<range.upperBound, isOldTree: false) + [hash(range.lowerBound..<middle)]
  }

  private func hash(_ range: Range<Int>) -> TreeHash {
    var height = 0
    while 1 << height < range.count { height += 1 }
    return rows[height][range.lowerBound >> height]
  }
}

/// The leaf hashes of the entries "0", "1", "2" and so on.
func leafHashes(_ count: Int) -> [TreeHash] { (0..<count).map { .leaf(Array("\($0)".utf8)) } }
