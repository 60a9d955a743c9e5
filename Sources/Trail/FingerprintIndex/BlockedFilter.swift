// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import ReceiptBytes

/// A Bloom filter in blocks of 64 bytes, a cache line each: a fingerprint sets one bit in each of the 8 words of
/// one block. With at most 42 records a block (12.2 bits a record) about one of 250 absent fingerprints passes.
///
/// The block goes by the fingerprint's upper bits, so that a run in ascending order fills its filter from front to
/// back, and a merge can write it in pieces.
@safe
final class BlockedFilter {
  static let recordsPerBlock: UInt64 = 42
  static let wordsPerBlock = 8

  /// The contents of the filter.
  let content: Content
  let byteCount: Int

  /// The words of a filter, without a reference to it: processors that look up at the same time would wait for each
  /// other's counts of references.
  @safe
  struct Content {
    /// 0 where there is no filter: then everything may have been inserted.
    let blockCount: Int
    fileprivate let words: UnsafeMutablePointer<UInt64>?
  }

  static func blockCount(records: UInt64) -> Int { Int((records + recordsPerBlock - 1) / recordsPerBlock) }

  /// An empty filter; ``Content/none`` where there is no memory for it. The memory is taken up as it is written to.
  private init(blockCount: Int) {
    byteCount = blockCount * Self.wordsPerBlock * 8
    // Mapped, so that all of it goes back to the system when merged runs' filters give way to one: the heap would
    // keep it.
    let memory = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
      content = .none
      return
    }
    // Large filters ask for large pages, which spare a lookup most of its address translations.
    if byteCount >= 1 << 21 { unsafe madvise(memory, byteCount, MADV_HUGEPAGE) }
    let words = unsafe memory.bindMemory(to: UInt64.self, capacity: blockCount * Self.wordsPerBlock)
    content = unsafe Content(blockCount: blockCount, words: words)
  }

  deinit { if let words = unsafe content.words { unsafe munmap(words, byteCount) } }

  /// Reads and verifies the filter of a run.
  ///
  /// - Throws: ``IndexError/Code/corrupt``; ``IndexError/Code/outOfRoom``; what the storage throws.
  convenience init(of run: IndexRun, in reader: any IndexReader) throws {
    self.init(blockCount: run.filterBlocks)
    guard unsafe content.words != nil else {
      throw IndexError(.outOfRoom, "There is no memory for a filter of \(run.filterBlocks) blocks.")
    }
    var digest = RowDigest.none
    for number in 0..<run.filterRows {
      let row = try run.filterRow(number).row(in: reader)
      digest.chain(row)
      guard load(row, block: number * IndexRun.blocksPerRow) else { break }
    }
    guard digest == run.filterDigest else {
      throw run.filterRow(0).corrupt(
        "The filter is not the one that was written. Restore the trail from a backup.")
    }
  }

  /// Sets the words from `block` on to the content of a row; `false` where they are fewer.
  private func load(_ row: [UInt8], block: Int) -> Bool {
    guard let words = unsafe content.words, row.count <= byteCount - block * 64 else { return false }
    let span = row.span
    for word in 0..<row.count / 8 {
      unsafe words[block * Self.wordsPerBlock + word] = span.bigEndian(at: 8 * word)
    }
    return true
  }

  /// The block of a fingerprint among `count`.
  @inline(__always)
  static func block(of fingerprint: UInt64, among count: Int) -> Int {
    Int((fingerprint &<< 16).multipliedFullWidth(by: UInt64(count)).high)
  }

  /// Six bits a word, from the lowest: which bit of it a fingerprint sets.
  @inline(__always)
  static func bits(of fingerprint: UInt64) -> UInt64 {
    let mixed = (fingerprint ^ fingerprint &>> 23) &* 0x9e37_79b9_7f4a_7c15
    return (mixed ^ mixed &>> 32) &* 0xd6e8_feb8_6659_fd93 &>> 16
  }
}

extension BlockedFilter.Content {
  static let none = unsafe Self(blockCount: 0, words: nil)

  /// Indicates whether the fingerprint, whose ``bits(of:)`` are given, may have been inserted. One branch for all
  /// words, since what the processor waits for is the block.
  @inline(__always)
  func mayContain(_ fingerprint: UInt64, _ bits: UInt64) -> Bool {
    guard let words = unsafe words else { return true }
    let block = BlockedFilter.block(of: fingerprint, among: blockCount) &* BlockedFilter.wordsPerBlock
    var found = unsafe words[block] &>> (bits & 63)
    found &= unsafe words[block &+ 1] &>> (bits &>> 6 & 63)
    found &= unsafe words[block &+ 2] &>> (bits &>> 12 & 63)
    found &= unsafe words[block &+ 3] &>> (bits &>> 18 & 63)
    found &= unsafe words[block &+ 4] &>> (bits &>> 24 & 63)
    found &= unsafe words[block &+ 5] &>> (bits &>> 30 & 63)
    found &= unsafe words[block &+ 6] &>> (bits &>> 36 & 63)
    found &= unsafe words[block &+ 7] &>> (bits &>> 42 & 63)
    return found & 1 == 1
  }
}

// After its rows are loaded, before anybody else sees it, it never changes.
extension BlockedFilter: @unchecked Sendable {}
extension BlockedFilter.Content: @unchecked Sendable {}
