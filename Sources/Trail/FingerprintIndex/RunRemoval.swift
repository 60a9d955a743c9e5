// SPDX-License-Identifier: Apache-2.0

/// Removes records from the pages of runs.
struct RunRemoval {
  /// The records to remove, in order.
  private let records: [IndexRecord]

  init(of records: [IndexRecord]) { self.records = records.sorted() }

  /// Rewrites the pages of a run that contain any of the records, and their fences.
  ///
  /// - Returns: The changed run.
  func run(_ resident: ResidentRun, in writer: any IndexWriter) throws -> IndexRun {
    var run = resident.run
    var removed: [Int: Set<IndexRecord>] = [:]
    for record in records where run.from <= record.index && record.index < run.to {
      guard let number = try resident.pageNumber(of: record, in: writer) else { continue }
      removed[number, default: []].insert(record)
    }
    var fences = resident.fences
    var changed: [Int] = []
    for (number, removed) in removed.sorted(by: { $0.key < $1.key }) {
      var page = try resident.page(number, in: writer)
      let left = try page.records().filter { !removed.contains($0) }
      guard left.count < page.count else { continue }
      run.records -= UInt64(page.count - left.count)
      changed.append(number)
      let place = run.page(number)
      if let first = left.first {
        // The row keeps its length, so that a storage can overwrite the old one in place.
        let (row, digest) = IndexPage.encode(left[...], of: run, byteCount: page.byteCount)
        fences.replace(number, by: (first.fingerprint, digest))
        try writer.put(place.table, place.key, row)
      } else {
        fences.replace(number, by: nil)
        try writer.remove(place.table, in: place.key...place.key)
      }
    }
    if !changed.isEmpty { try fences.rewrite(changed, of: &run, in: writer) }
    return run
  }

  /// Removes the records from the output of an unfinished merge.
  func run(_ progress: inout IndexRunProgress, in writer: any IndexWriter) throws {
    guard let last = progress.last, records.first.map({ $0 <= last }) ?? false else { return }
    let written = try ResidentRun(progress.run, in: writer, withFilter: false)
    progress.run = try run(written, in: writer)
    guard records.contains(last) else { return }
    // The catalogue must not keep the removed record either. The merge can continue after the record before it,
    // because the inputs no longer have any record between the two.
    progress.last = try ResidentRun(progress.run, in: writer, withFilter: false).last(in: writer)
  }
}
