// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import AuditTrailSQLite
import ReceiptCodec

/// A file with a row for each entry of a trail.
///
/// The file name extension selects the format.
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
      case .csv: CSVWriter(file)
      case .jsonl: JSONLinesWriter(file)
      case .sqlite: try Self.databaseWriter(file)
      }
    var count: UInt64 = 0
    try view.forEachRow { row in
      try writer.write(EntryReport(row))
      count += 1
      if count.isMultiple(of: 1024) { progress.show(count, of: view.size) }
    }
    try writer.finish()
    try file.finish()
  }

  fileprivate static let columnNames = EntryReport(
    index: 0, entry: AuditEntry(EntryFacts(time: 0, kind: .verdict))
  ).columns.map(\.name)

  private static func databaseWriter(_ file: PendingFile) throws -> any RowWriter {
    try DatabaseWriter(file)
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

/// Buffers many rows for each write.
private struct BufferedFile {
  private static let byteCount = 1 << 16
  let file: PendingFile
  private var buffer: [UInt8] = []

  init(_ file: PendingFile) { self.file = file }

  mutating func write(_ bytes: some Sequence<UInt8>) throws(ExitCode) {
    buffer += bytes
    if buffer.count >= Self.byteCount { try flush() }
  }

  mutating func flush() throws(ExitCode) {
    try file.write(buffer)
    buffer.removeAll(keepingCapacity: true)
  }
}

/// Writes CSV (RFC 4180) with a header.
///
/// An empty cell is an absent value; empty values do not occur.
private final class CSVWriter: RowWriter {
  private var file: BufferedFile
  private var hasHeader = false

  init(_ file: PendingFile) { self.file = BufferedFile(file) }

  func write(_ row: EntryReport) throws {
    try writeHeader()
    try write(row.columns.map { $0.value?.cell ?? "" })
  }

  func finish() throws {
    try writeHeader()
    try file.flush()
  }

  private func writeHeader() throws {
    guard !hasHeader else { return }
    hasHeader = true
    try write(TableFile.columnNames)
  }

  private func write(_ cells: [String]) throws {
    try file.write((cells.map(Self.quoted).joined(separator: ",") + "\r\n").utf8)
  }

  /// Quotes a cell if necessary (RFC 4180 section 2, rules 5 to 7).
  private static func quoted(_ cell: String) -> String {
    let isQuoted = cell.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
    guard isQuoted else { return cell }
    return "\"" + cell.replacing("\"", with: "\"\"") + "\""
  }
}

/// Writes the same lines as `audit show --json`.
private final class JSONLinesWriter: RowWriter {
  private var file: BufferedFile

  init(_ file: PendingFile) { self.file = BufferedFile(file) }

  func write(_ row: EntryReport) throws { try file.write(row.jsonLine()) }
  func finish() throws { try file.flush() }
}

/// Writes the table `entries` of a SQLite database, with indexes on the columns for look-ups.
private final class DatabaseWriter: RowWriter {
  private let table: SQLiteTable
  private let path: String

  init(_ file: PendingFile) throws {
    path = file.path
    table = try Self.mapping(path) { () throws(StorageError) in
      try SQLiteTable(
        inEmptyFile: file.temporary, name: "entries", columns: TableFile.columnNames,
        integers: Set(EntryReport.integerColumns))
    }
  }

  func write(_ row: EntryReport) throws {
    try Self.mapping(path) { () throws(StorageError) in try table.insert(row.columns.map { $0.value?.cell })
    }
  }

  func finish() throws {
    try Self.mapping(path) { () throws(StorageError) in
      try table.finish(indexing: EntryField.allCases.filter(\.isIndexed).map(\.column))
    }
  }

  private static func mapping<Result>(
    _ path: String, _ body: () throws(StorageError) -> Result
  ) throws(ExitCode) -> Result {
    do throws(StorageError) { return try body() } catch {
      throw ToolExit.failure(.inputOutput, "cannot write \(path): \(error.message)")
    }
  }
}
