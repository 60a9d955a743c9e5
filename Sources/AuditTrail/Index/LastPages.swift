// SPDX-License-Identifier: Apache-2.0

/// A reader that keeps the page of each index run that was read last, for one thread that looks up in the order of the
/// runs: neighbours mostly lie in the same page.
final class LastPages: StorageReader {
  private let reader: any StorageReader
  /// By run.
  private var pages: [Int64: (key: Int64, bytes: [UInt8])] = [:]

  /// Reads through `reader`, which must be of one state.
  init(_ reader: any StorageReader) { self.reader = reader }

  func value(_ table: StorageTable, _ key: Int64) throws -> [UInt8]? {
    guard table == .pages else { return try reader.value(table, key) }
    let run = key >> IndexRun.partBits
    if let last = pages[run], last.key == key { return last.bytes }
    let bytes = try reader.value(table, key)
    if let bytes { pages[run] = (key, bytes) }
    return bytes
  }

  func value(_ table: StorageTable, _ key: Int64, bytes range: Range<Int>) throws -> [UInt8]? {
    try reader.value(table, key, bytes: range)
  }

  func forEach(
    _ table: StorageTable, in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool
  ) throws { try reader.forEach(table, in: keys, body) }

  func prefetch(_ table: StorageTable, _ keys: () -> [Int64]) throws { try reader.prefetch(table, keys) }

  func lastKey(_ table: StorageTable, in keys: ClosedRange<Int64>) throws -> Int64? {
    try reader.lastKey(table, in: keys)
  }
}
