// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import ReceiptBytes
internal import ReceiptCrypto

/// A Bloom filter in blocks of 64 bytes (a cache line each).
///
/// A fingerprint sets one bit in each of the 8 words of one block. With at most 42 records a block (12.2 bits a
/// record), the false-positive rate is about 1 in 250.
///
/// The fingerprint's upper bits select the block. A run in ascending order therefore fills its filter from front to
/// back, and a merge can write it in pieces.
@safe
final class BlockedFilter {
  static let recordsPerBlock: UInt64 = 42
  static let wordsPerBlock = 8

  /// The filter's words. Callers must keep the filter alive while they use them.
  let content: Content
  let byteCount: Int

  /// The words of a filter, without a reference to it. Concurrent lookups on several processors would otherwise
  /// contend for its reference count.
  @safe
  struct Content {
    /// The number of blocks; 0 without a filter, in which case every fingerprint may have been inserted.
    let blockCount: Int
    fileprivate let words: UnsafeMutablePointer<UInt64>?
  }

  static func blockCount(records: UInt64) -> Int { Int((records + recordsPerBlock - 1) / recordsPerBlock) }

  /// Creates an empty filter; its content is ``Content/none`` if there is not enough memory. The system allocates the
  /// memory only as it is written to.
  private init(blockCount: Int) {
    byteCount = blockCount * Self.wordsPerBlock * 8
    // The memory is mapped, so that all of it returns to the system when a merge replaces the filters of several runs
    // by one. The heap would keep it.
    let memory = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
      content = .none
      return
    }
    // Large filters request huge pages, which avoid most of a lookup's TLB misses.
    if byteCount >= 1 << 21 { unsafe madvise(memory, byteCount, MADV_HUGEPAGE) }
    let words = unsafe memory.bindMemory(to: UInt64.self, capacity: blockCount * Self.wordsPerBlock)
    content = unsafe Content(blockCount: blockCount, words: words)
  }

  deinit { if let words = unsafe content.words { unsafe munmap(words, byteCount) } }

  convenience init(of run: IndexRun, in reader: any IndexReader) throws {
    self.init(blockCount: run.filterBlocks)
    guard unsafe content.words != nil else {
      throw IndexError(.outOfRoom, "There is no memory for a filter of \(run.filterBlocks) blocks.")
    }
    var digest = SHA256Digest.zero
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

  /// Sets the words from `block` on to the content of a row; `false` if the row does not fit.
  private func load(_ row: [UInt8], block: Int) -> Bool {
    guard let words = unsafe content.words, row.count <= byteCount - block * 64 else { return false }
    let span = row.span
    for word in 0..<row.count / 8 {
      unsafe words[block * Self.wordsPerBlock + word] = span.bigEndian(at: 8 * word)
    }
    return true
  }

  @inline(__always)
  static func block(of fingerprint: UInt64, among count: Int) -> Int {
    Int((fingerprint &<< 16).multipliedFullWidth(by: UInt64(count)).high)
  }

  /// The bits that a fingerprint sets: six bits for each word, starting with the lowest, give the bit's position.
  @inline(__always)
  static func bits(of fingerprint: UInt64) -> UInt64 {
    let mixed = (fingerprint ^ fingerprint &>> 23) &* 0x9e37_79b9_7f4a_7c15
    return (mixed ^ mixed &>> 32) &* 0xd6e8_feb8_6659_fd93 &>> 16
  }
}

extension BlockedFilter.Content {
  static let none = unsafe Self(blockCount: 0, words: nil)

  /// Returns `true` if the fingerprint may have been inserted; `bits` must be its ``bits(of:)``. All words are tested
  /// with one branch, because the processor mostly waits for the block to load.
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

// The content never changes after the rows are loaded, which happens before the filter is shared.
extension BlockedFilter: @unchecked Sendable {}
extension BlockedFilter.Content: @unchecked Sendable {}
