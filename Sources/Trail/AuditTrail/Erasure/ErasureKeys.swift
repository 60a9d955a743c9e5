// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto

/// The stored keys of a trail's erasable parts: the remaining nodes of an ``ErasureKeyTree``.
///
/// Row 0 of the table `covers` covers the blocks of 4,096 entries in which nothing was erased; row 1 + n covers the
/// rest of block n. Erasing replaces the row and its wrapping key (``WrappingKeys``), so that no copy of the old row
/// can be opened. Rows are read when they are first needed: use a value for only one state of the storage.
struct ErasureKeys {
  private static let blockHeight: UInt8 = 12

  private let reader: any StorageReader
  private var blocks: ErasureKeyTree.Cover?
  /// The block whose row was read last.
  private var block: (number: UInt64, cover: ErasureKeyTree.Cover)?
  private var path = ErasureKeyPath()

  init(_ reader: any StorageReader) { self.reader = reader }

  static func create(in writer: any StorageWriter) throws {
    let root = ErasureKeyTree.Node(height: ErasureKeyTree.height, number: 0, secret: WrappingKeys.random())
    try write(ErasureKeyTree.Cover([root]), row: 0, in: writer)
  }

  /// Returns the key of an entry's erasable part; `nil` if it was forgotten.
  mutating func key(of entry: UInt64) throws -> ErasureKeyTree.Secret? {
    if let known = path.key(of: entry) { return known }
    path = ErasureKeyPath(try node(above: entry).map { [$0] } ?? [])
    return path.key(of: entry)
  }

  /// Returns a path that computes, without reading, the keys of future entries, which cannot have been forgotten.
  mutating func pathForAppending(after size: UInt64) throws -> ErasureKeyPath {
    var nodes = try coverOfBlocks().nodes
    let number = size >> UInt64(Self.blockHeight)
    if try coverOfBlocks().node(above: size) == nil {
      nodes += try Self.cover(ofBlock: number, in: reader).nodes
    }
    return ErasureKeyPath(nodes.filter { $0.leaves.upperBound > size })
  }

  private mutating func node(above entry: UInt64) throws -> ErasureKeyTree.Node? {
    if let node = try coverOfBlocks().node(above: entry) { return node }
    let number = entry >> UInt64(Self.blockHeight)
    if block?.number != number { block = (number, try Self.cover(ofBlock: number, in: reader)) }
    return block?.cover.node(above: entry)
  }

  private mutating func coverOfBlocks() throws -> ErasureKeyTree.Cover {
    if let blocks { return blocks }
    let all = 0..<UInt64(1) << UInt64(ErasureKeyTree.height)
    let cover = try Self.cover(row: 0, of: all, downTo: Self.blockHeight, in: reader)
    blocks = cover
    return cover
  }

  private static func cover(ofBlock number: UInt64, in reader: any StorageReader) throws
    -> ErasureKeyTree.Cover
  {
    let leaves = number << UInt64(blockHeight)..<(number + 1) << UInt64(blockHeight)
    return try cover(row: number + 1, of: leaves, downTo: 0, in: reader)
  }

  /// Opens every row of `covers`, and returns the rows that the two tables have.
  mutating func checkRows() throws -> (covers: [ClosedRange<Int64>], keys: ClosedRange<Int64>) {
    var rows: [ClosedRange<Int64>] = [0...0]
    var next: UInt64 = 0
    let end = UInt64(1) << UInt64(ErasureKeyTree.height)
    for covered in try coverOfBlocks().nodes.map(\.leaves) + [end..<end] {
      // The blocks in a gap have rows of their own.
      for number in next >> UInt64(Self.blockHeight)..<covered.lowerBound >> UInt64(Self.blockHeight) {
        _ = try Self.cover(ofBlock: number, in: reader)
        rows.append(Int64(number) + 1...Int64(number) + 1)
      }
      next = covered.upperBound
    }
    return (rows, try WrappingKeys.rows(upTo: UInt64(rows.last?.upperBound ?? 0), in: reader))
  }

  /// Forgets the keys of entries, which are ascending; keys that were forgotten before stay forgotten.
  static func forget(_ entries: [UInt64], in writer: any StorageWriter) throws {
    var keys = ErasureKeys(writer)
    var blocks = try keys.coverOfBlocks()
    let numbers = entries.map { $0 >> UInt64(blockHeight) }
    let touched = numbers.indices.filter { $0 == 0 || numbers[$0] != numbers[$0 - 1] }.map { numbers[$0] }
    let untouched = blocks.forget(touched, atHeight: blockHeight)
    if !untouched.isEmpty { try write(blocks, row: 0, in: writer) }
    for number in touched {
      let whole = untouched.first { $0.number == number }
      var cover = try whole.map { .init([$0]) } ?? cover(ofBlock: number, in: writer)
      let own = numbers.partitioningIndex { $0 >= number }..<numbers.partitioningIndex { $0 > number }
      _ = cover.forget(Array(entries[own]), atHeight: 0)
      try write(cover, row: number + 1, in: writer)
    }
  }

  private static func cover(
    row: UInt64, of leaves: Range<UInt64>, downTo height: UInt8, in reader: any StorageReader
  ) throws -> ErasureKeyTree.Cover {
    var cipher = AES256GCM()
    guard let wrapping = try WrappingKeys.key(row, in: reader) else {
      throw try arePresent(in: reader) ? damaged(row) : Self.missing
    }
    guard
      let sealed = try reader.value(.covers, Int64(row)),
      let encoded = cipher.open(sealed.span, key: wrapping),
      let cover = ErasureKeyTree.Cover(encoded, of: leaves, downTo: height)
    else { throw damaged(row) }
    return cover
  }

  private static func write(_ cover: ErasureKeyTree.Cover, row: UInt64, in writer: any StorageWriter) throws {
    var cipher = AES256GCM()
    var sealed: [UInt8] = []
    let nonce = Random.bytes(AES256GCM.nonceByteCount)
    cipher.seal(
      cover.encoded.span, key: try WrappingKeys.renew(row, in: writer), nonce: nonce.span, into: &sealed)
    try writer.put(.covers, Int64(row), sealed)
  }

  /// Returns `true` if the trail has any keys; a copy that is made as a backup has none.
  static func arePresent(in reader: any StorageReader) throws -> Bool {
    try reader.lastKey(.keys, in: 0...Int64.max) != nil
  }

  static let missing = AuditError(
    .keysMissing, at: "keys",
    "The trail holds no keys of erasable parts, as backups do not: put them in with receipt-tool audit restore-keys, "
      + "and open it again.")

  private static func damaged(_ row: UInt64) -> AuditError {
    AuditError(
      .tampered, at: "covers \(row)",
      "The keys of the erasable parts are missing or damaged; restore the tables keys and covers.")
  }
}

/// The nodes on the path down to the key that was computed last; the next key usually shares all but a few of them.
struct ErasureKeyPath: Sendable {
  private let cover: [ErasureKeyTree.Node]
  private var nodes: [ErasureKeyTree.Node] = []

  init(_ cover: [ErasureKeyTree.Node] = []) { self.cover = cover }

  /// Returns the key of an entry; `nil` if the entry is below none of the nodes.
  mutating func key(of entry: UInt64) -> ErasureKeyTree.Secret? {
    while let last = nodes.last, !last.leaves.contains(entry) { nodes.removeLast() }
    if nodes.isEmpty {
      guard let node = cover.first(where: { $0.leaves.contains(entry) }) else { return nil }
      nodes = [node]
    }
    while let last = nodes.last, last.height > 0 { nodes.append(last.child(towards: entry)) }
    return nodes.last?.secret
  }
}

/// The keys that the rows of the table `covers` are sealed with, drawn again whenever their row is replaced.
///
/// The rows of the table `keys` have 128 keys of 32 bytes each, the only bytes of a trail that are overwritten in
/// place. They keep their length and are created in ascending order, so that a storage has no reason to move one and
/// leave a copy behind.
enum WrappingKeys {
  private static let countPerRow: UInt64 = 128
  private static let byteCount = 32
  static let rowByteCount = Int(countPerRow) * byteCount

  /// Returns the key with the number `number`; `nil` if it does not exist.
  static func key(_ number: UInt64, in reader: any StorageReader) throws -> ErasureKeyTree.Secret? {
    let start = Int(number % countPerRow) * byteCount
    let bytes = try reader.value(.keys, Int64(number / countPerRow), bytes: start..<start + byteCount)
    return bytes.flatMap { PrefixedSHA256.words(of: $0) }
  }

  /// Returns the keys of the first row; an erasure replaces only a few of them.
  static func some(_ reader: any StorageReader) throws -> Set<[UInt8]> {
    let row = try reader.value(.keys, 0) ?? []
    return Set(stride(from: 0, to: row.count, by: byteCount).map { Array(row[$0...].prefix(byteCount)) })
  }

  /// Checks that the rows with the keys up to number `last` are whole, and returns these rows.
  static func rows(upTo last: UInt64, in reader: any StorageReader) throws -> ClosedRange<Int64> {
    let rows = 0...Int64(last / countPerRow)
    for row in rows where try reader.value(.keys, row)?.count != rowByteCount {
      throw AuditError(.tampered, at: "keys \(row)", "The row does not hold \(countPerRow) keys; restore it.")
    }
    return rows
  }

  static func renew(_ number: UInt64, in writer: any StorageWriter) throws -> ErasureKeyTree.Secret {
    let row = Int64(number / countPerRow)
    let last = try writer.lastKey(.keys, in: 0...Int64.max) ?? -1
    if last < row {
      for made in last + 1...row { try writer.put(.keys, made, Random.bytes(rowByteCount)) }
    }
    let key = random()
    let bytes = unsafe withUnsafeBytes(of: key) { unsafe Array($0) }
    try writer.overwrite(.keys, row, at: Int(number % countPerRow) * byteCount, with: bytes)
    return key
  }

  static func random() -> ErasureKeyTree.Secret {
    var words: [UInt64] = []
    let bytes = Random.bytes(byteCount)
    for start in stride(from: 0, to: byteCount, by: 8) { words.append(bytes.bigEndian(at: start)) }
    return (words[0], words[1], words[2], words[3])
  }
}
