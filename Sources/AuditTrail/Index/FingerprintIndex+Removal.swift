// SPDX-License-Identifier: Apache-2.0

extension FingerprintIndex {
  /// Removes a record of a personal kind (``IndexKind/isPersonal``), so that not even its fingerprint is left: from
  /// memory, and from the pages of its run and of what a merge has made of that so far. Personal kinds have no filters.
  /// Runs that were merged before and await their removal keep it until ``IndexMerger`` has nothing left to do.
  ///
  /// - Returns: Whether there was such a record.
  /// - Throws: ``StorageError``; ``StorageError/Code/unsupported`` for another kind, whose pages readers keep as they
  ///   were.
  @discardableResult
  package mutating func remove(
    _ kind: IndexKind, _ fingerprint: UInt64, _ index: UInt64, in writer: any StorageWriter
  ) throws -> Bool {
    guard kind.isPersonal else {
      throw StorageError(.unsupported, at: "index", "Records of \(kind)s are not removed.")
    }
    try reloadIfChanged(in: writer)
    let record = IndexRecord(fingerprint: fingerprint, index: index)
    guard index < indexedSize else { return removeFromMemory(kind, record) }
    var catalogue = try IndexCatalogue.read(in: writer)
    var removed = false
    for number in catalogue.runs.indices {
      guard try Self.remove(record, of: kind, from: &catalogue.runs[number], in: writer) else { continue }
      removed = true
    }
    for number in catalogue.merges.indices {
      var written = catalogue.merges[number].output
      written.pages = catalogue.merges[number].progress.pages
      written.records = catalogue.merges[number].progress.records
      guard let last = catalogue.merges[number].progress.last, record <= last,
        try Self.remove(record, of: kind, from: &written, in: writer)
      else { continue }
      catalogue.merges[number].progress.records = written.records
      removed = true
    }
    if removed {
      catalogue.removals += 1
      try catalogue.write(in: writer)
    }
    return removed
  }

  private static func remove(
    _ record: IndexRecord, of kind: IndexKind, from run: inout IndexRun, in writer: any StorageWriter
  ) throws -> Bool {
    guard run.kind == kind, run.from <= record.index, record.index < run.to else { return false }
    let resident = try ResidentRun(run, in: writer, withFilter: false)
    guard let (number, slot) = try resident.find(record, in: writer) else { return false }
    let page = try IndexPage.read(number, of: run, in: writer)
    var records = page.records
    guard records.first?.fingerprint == page.base, zip(records, records.dropFirst()).allSatisfy({ $0 < $1 }),
      records.allSatisfy({ $0.index < run.to })
    else { throw run.page(number).corrupt("The records are not in order.") }
    records.remove(at: slot)
    // Without records, a page keeps its place among the others by the base of the one before it.
    let base = records.first?.fingerprint ?? (number > 0 ? resident.fences[number - 1] : 0)
    try writer.overwrite(
      .pages, run.page(number).key, at: 0,
      with: IndexPage.encode(records[...], of: run, page: number, base: base, byteCount: page.bytes.count))
    if slot == 0 {
      let place = run.fenceRow(number / indexRowParts)
      var fences = try IndexRows.words(at: place, in: writer)
      fences[number % indexRowParts] = base
      try writer.overwrite(place.table, place.key, at: 0, with: IndexRows.encode(fences, at: place))
    }
    guard run.records > 0 else {
      throw IndexPlace.catalogue.corrupt("Run \(run.number) has a record too many.")
    }
    run.records -= 1
    return true
  }
}
