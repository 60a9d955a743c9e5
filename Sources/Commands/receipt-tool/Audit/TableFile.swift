// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import AuditTrailSQLite
import ReceiptCodec

/// A file with a row for each entry of a trail. The file name extension selects the format.
struct TableFile {
  enum Form: String, CaseIterable {
    case csv, jsonl, sqlite
  }

  let path: String
  let form: Form

  /// Creates a file for a path; `nil` if the extension is unknown.
  init?(path: String) {
    guard let dot = path.lastIndex(of: "."),
      let form = Form(rawValue: String(path[path.index(after: dot)...]))
    else { return nil }
    self.path = path
    self.form = form
  }

  /// Writes the file atomically.
  ///
  /// - Throws: Exit code 73 if the file exists or cannot be created, 74 if it cannot be written; errors of reading the
  ///   trail.
  func write(_ view: TrailView, overwriting: Bool, progress: Progress) throws {
    let file = try PendingFile(path, overwriting: overwriting)
    let writer: any RowWriter =
      switch form {
      case .csv:
        TextWriter(file, header: Self.csv(Self.columnNames)) { row in
          Self.csv(row.columns.map { $0.value?.cell ?? "" })
        }
      // The same lines as `audit show --json`.
      case .jsonl: TextWriter(file) { $0.jsonLine() }
      case .sqlite: try DatabaseWriter(file)
      }
    var count: UInt64 = 0
    try view.forEachRow { row in
      try writer.write(row)
      count += 1
      if count.isMultiple(of: 1024) { progress.show(count, of: view.size) }
    }
    try writer.finish()
    try file.finish()
  }

  fileprivate static let columnNames = EntryReport(
    index: 0, entry: AuditEntry(EntryFacts(time: 0, kind: .verdict))
  ).columns.map(\.name)

  /// A row of CSV (RFC 4180); an empty cell is an absent value, because empty values do not occur.
  private static func csv(_ cells: [String]) -> [UInt8] {
    let quoted = cells.map { cell in
      // Section 2, rules 5 to 7.
      let isQuoted = cell.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
      return isQuoted ? "\"" + cell.replacing("\"", with: "\"\"") + "\"" : cell
    }
    return Array((quoted.joined(separator: ",") + "\r\n").utf8)
  }
}

private protocol RowWriter: AnyObject {
  func write(_ row: EntryReport) throws
  func finish() throws
}

extension EntryReport.Value {
  /// The text of a cell; checks are JSON.
  fileprivate var cell: String {
    switch self {
    case .text(let text): return text
    case .number(let number): return String(number)
    case .checks(let checks):
      var array = JSONWriter()
      EntryReport.append(checks, to: &array)
      return String(decoding: array.bytes, as: UTF8.self)
    }
  }
}

/// Writes lines of text, many at a time.
private final class TextWriter: RowWriter {
  private static let byteCount = 1 << 16
  private let file: PendingFile
  private let line: (EntryReport) -> [UInt8]
  private var buffer: [UInt8]

  init(_ file: PendingFile, header: [UInt8] = [], _ line: @escaping (EntryReport) -> [UInt8]) {
    self.file = file
    self.line = line
    buffer = header
  }

  func write(_ row: EntryReport) throws {
    buffer += line(row)
    if buffer.count >= Self.byteCount { try finish() }
  }

  func finish() throws {
    try file.write(buffer)
    buffer.removeAll(keepingCapacity: true)
  }
}

/// Writes the table `entries` of a SQLite database, with indexes on the columns for look-ups.
private final class DatabaseWriter: RowWriter {
  private let table: SQLiteTable
  private let path: String

  init(_ file: PendingFile) throws {
    path = file.path
    table = try Self.mapping(path) {
      try SQLiteTable(
        inEmptyFile: file.temporary, name: "entries", columns: TableFile.columnNames,
        integers: Set(EntryReport.integerColumns))
    }
  }

  func write(_ row: EntryReport) throws {
    try Self.mapping(path) { try table.insert(row.columns.map { $0.value?.cell }) }
  }

  func finish() throws {
    try Self.mapping(path) {
      try table.finish(indexing: EntryField.allCases.filter(\.isIndexed).map(\.column))
    }
  }

  private static func mapping<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as StorageError {
      throw ToolExit.failure(.inputOutput, "cannot write \(path): \(error.message)")
    }
  }
}
