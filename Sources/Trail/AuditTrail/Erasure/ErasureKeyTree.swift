// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptCrypto

/// The tree of keys that erasable parts are encrypted with: a puncturable pseudorandom function, after Goldreich,
/// Goldwasser and Micali, "How to construct random functions" (1986).
///
/// The leaves are the keys of the entries, in order. The root is 32 random bytes, and every other node is computed
/// from its parent:
///
///     left child  = SHA-256(0x10 || parent)
///     right child = SHA-256(0x11 || parent)
///
/// So all keys are computed from one root, and take no room of their own. To forget the key of an entry, the stored
/// node above it is replaced by the siblings along the path down to it. Every other key can still be computed from
/// these nodes, and the forgotten one cannot.
enum ErasureKeyTree {
  typealias Secret = PrefixedSHA256.Words

  /// The number of levels above the leaves: a trail has at most 2^40 entries.
  static let height: UInt8 = 40

  /// A node at `height` above the leaves, with number `number` from the left.
  struct Node {
    let height: UInt8
    let number: UInt64
    let secret: Secret

    var leaves: Range<UInt64> { number << UInt64(height)..<(number + 1) << UInt64(height) }

    var left: Node {
      Node(height: height - 1, number: 2 * number, secret: PrefixedSHA256.hash(prefix: 0x10, secret))
    }

    var right: Node {
      Node(height: height - 1, number: 2 * number + 1, secret: PrefixedSHA256.hash(prefix: 0x11, secret))
    }

    func child(towards leaf: UInt64) -> Node {
      leaf >> UInt64(height - 1) & 1 == 0 ? left : right
    }
  }

  /// Nodes from which keys can be computed, in order; no node is below another.
  struct Cover {
    private(set) var nodes: [Node]

    init(_ nodes: [Node]) { self.nodes = nodes }

    /// Returns the node above a leaf; `nil` if the leaf was forgotten, or is not covered.
    func node(above leaf: UInt64) -> Node? {
      let place = nodes.partitioningIndex { $0.leaves.lowerBound > leaf } - 1
      return place >= 0 && nodes[place].leaves.contains(leaf) ? nodes[place] : nil
    }

    /// Forgets the nodes with these ascending numbers, keeps a cover of all others, and returns those it covered.
    mutating func forget(_ numbers: [UInt64], atHeight height: UInt8) -> [Node] {
      var kept: [Node] = []
      var forgotten: [Node] = []
      for node in nodes {
        let shift = UInt64(node.height &- height)
        let first = numbers.partitioningIndex { $0 >= node.number << shift }
        let end = numbers.partitioningIndex { $0 >= (node.number + 1) << shift }
        Self.split(node, numbers[first..<end], height, &kept, &forgotten)
      }
      nodes = kept
      return forgotten
    }

    private static func split(
      _ node: Node, _ numbers: ArraySlice<UInt64>, _ height: UInt8, _ kept: inout [Node],
      _ forgotten: inout [Node]
    ) {
      guard !numbers.isEmpty else { return kept.append(node) }
      guard node.height > height else { return forgotten.append(node) }
      let right = node.right
      let middle = numbers.partitioningIndex { $0 >= right.number << UInt64(right.height - height) }
      split(node.left, numbers[..<middle], height, &kept, &forgotten)
      split(right, numbers[middle...], height, &kept, &forgotten)
    }
  }
}

/// A row of the table of keys: the nodes of a cover.
///
///     1 byte        1: the version of this layout
///     each node:
///     1 byte        its height
///     5 bytes       its number, big endian
///     32 bytes      its secret
extension ErasureKeyTree.Cover {
  private static let nodeByteCount = 38

  var encoded: [UInt8] {
    var row: [UInt8] = [1]
    row.reserveCapacity(1 + Self.nodeByteCount * nodes.count)
    for node in nodes {
      row.append(node.height)
      row += [node.number >> 32, node.number >> 24, node.number >> 16, node.number >> 8, node.number]
        .map { UInt8(truncatingIfNeeded: $0) }
      unsafe withUnsafeBytes(of: node.secret) { unsafe row.append(contentsOf: $0) }
    }
    return row
  }

  /// Reads the nodes of a row; `nil` if it does not have this layout, with nodes in `leaves` of at least `height`.
  init?(_ row: [UInt8], of leaves: Range<UInt64>, downTo height: UInt8) {
    guard row.first == 1, (row.count - 1) % Self.nodeByteCount == 0 else { return nil }
    var nodes: [ErasureKeyTree.Node] = []
    var end = leaves.lowerBound
    for start in stride(from: 1, to: row.count, by: Self.nodeByteCount) {
      let number = row[start + 1..<start + 6].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      let secret = row[start + 6..<start + Self.nodeByteCount]
      guard height...ErasureKeyTree.height ~= row[start], let words = PrefixedSHA256.words(of: secret),
        number < 1 << UInt64(ErasureKeyTree.height - row[start])
      else { return nil }
      let node = ErasureKeyTree.Node(height: row[start], number: number, secret: words)
      guard node.leaves.lowerBound >= end, node.leaves.upperBound <= leaves.upperBound else { return nil }
      end = node.leaves.upperBound
      nodes.append(node)
    }
    self.init(nodes)
  }
}
