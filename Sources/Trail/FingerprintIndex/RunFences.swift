// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// The fences of a run: for each page its first fingerprint in 8 bytes, and the SHA-256 of its header. A row has the
/// fences of the pages that one step of a merge made, at most 128. A page that lost all its records has a fence of
/// zeros and no row.
struct RunFences: Sendable {
  /// The first fingerprint of each page, ascending. A page without records has the fingerprint of the page before it.
  private(set) var fingerprints: [UInt64] = []
  /// The digests of the pages' headers; ``SHA256Digest/zero`` for a page without records.
  private(set) var digests: [SHA256Digest] = []
  private var rows: [Range<Int>] = []

  static let fencesPerRow = 128
  private static let byteCount = 8 + SHA256Digest.byteCount

  /// Creates fences for pages that are not written yet.
  init() {}

  init(of run: IndexRun, in reader: any IndexReader) throws {
    var digest = SHA256Digest.zero
    fingerprints.reserveCapacity(run.pages)
    digests.reserveCapacity(run.pages)
    for number in 0..<run.fenceRows {
      let row = try run.fenceRow(number).row(in: reader)
      digest.chain(row)
      guard row.count <= Self.fencesPerRow * Self.byteCount else { break }
      for offset in stride(from: 0, through: row.count - Self.byteCount, by: Self.byteCount) {
        append(row.span.bigEndian(at: offset), SHA256Digest(in: row.span, at: offset + 8))
      }
      rows.append((rows.last?.upperBound ?? 0)..<digests.count)
    }
    guard digest == run.fenceDigest, digests.count == run.pages else {
      throw run.fenceRow(0).corrupt(
        "The fences are not those that were written. Restore the trail from a backup.")
    }
  }

  mutating func append(_ fingerprint: UInt64, _ digest: SHA256Digest) {
    fingerprints.append(digest == .zero ? fingerprints.last ?? 0 : fingerprint)
    digests.append(digest)
  }

  /// Replaces the fence of a page; `nil` if the page has no records any more.
  mutating func replace(_ number: Int, by page: (fingerprint: UInt64, digest: SHA256Digest)?) {
    fingerprints[number] = page?.fingerprint ?? 0
    digests[number] = page?.digest ?? .zero
  }

  func isEmpty(_ page: Int) -> Bool { digests[page] == .zero }

  /// Writes the fences of new pages after those that `run` has.
  func append(to run: inout IndexRun, in writer: any IndexWriter) throws {
    for start in stride(from: 0, to: digests.count, by: Self.fencesPerRow) {
      let row = row(start..<min(start + Self.fencesPerRow, digests.count))
      let place = run.fenceRow(run.fenceRows)
      try writer.put(place.table, place.key, row)
      run.fenceDigest.chain(row)
      run.fenceRows += 1
    }
  }

  func rewrite(_ changed: some Sequence<Int>, of run: inout IndexRun, in writer: any IndexWriter) throws {
    var changed = changed.sorted()[...]
    run.fenceDigest = .zero
    for (number, pages) in rows.enumerated() {
      let row = row(pages)
      run.fenceDigest.chain(row)
      guard let first = changed.first, pages.contains(first) else { continue }
      changed = changed.drop { pages.contains($0) }
      let place = run.fenceRow(number)
      try writer.put(place.table, place.key, row)
    }
  }

  private func row(_ pages: Range<Int>) -> [UInt8] {
    var row: [UInt8] = []
    row.reserveCapacity(pages.count * Self.byteCount)
    for page in pages {
      row.append(bigEndian: isEmpty(page) ? 0 : fingerprints[page])
      row += digests[page].bytes
    }
    return row
  }
}
