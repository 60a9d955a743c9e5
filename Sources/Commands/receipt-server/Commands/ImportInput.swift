// SPDX-License-Identifier: Apache-2.0

#if Server
  import Foundation
  import ReceiptCrypto

  /// The lines of an import, from a file or from standard input.
  ///
  /// The input is read twice, first for its digest, under which the progress is stored. Standard input is therefore copied
  /// to a temporary file first, which has no name any more and vanishes with the process.
  final class ImportInput {
    private static let pieceByteCount = 1 << 18

    let byteCount: Int64
    /// The SHA-256 of the input.
    let digest: [UInt8]
    private let file: FileHandle
    private let maximumLineByteCount: Int
    private var buffer: [UInt8] = []
    private var next = 0

    /// - Parameters:
    ///   - path: The path of a file; `-` for standard input.
    ///   - maximumLineByteCount: The length to which longer lines are truncated, so that they are refused.
    /// - Throws: An error of the file.
    init(_ path: String, maximumLineByteCount: Int) throws {
      self.maximumLineByteCount = maximumLineByteCount + 1
      var input = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
      if path == "-" || !Self.isRegularFile(path) { input = try Self.copy(of: input) }
      var digest = IncrementalDigest(.sha256)
      var count: Int64 = 0
      try input.seek(toOffset: 0)
      while let piece = try input.read(upToCount: Self.pieceByteCount), !piece.isEmpty {
        digest.update(Array(piece))
        count += Int64(piece.count)
      }
      file = input
      byteCount = count
      self.digest = digest.finalize()
      try input.seek(toOffset: 0)
    }

    private static func isRegularFile(_ path: String) -> Bool {
      let attributes = try? FileManager.default.attributesOfItem(
        atPath: URL(filePath: path).resolvingSymlinksInPath().path)
      return attributes?[.type] as? FileAttributeType == .typeRegular
    }

    private static func copy(of input: FileHandle) throws -> FileHandle {
      let path = FileManager.default.temporaryDirectory.appending(
        component: "receipt-server-import-\(UUID().uuidString)")
      guard
        FileManager.default.createFile(
          atPath: path.path, contents: nil, attributes: [.posixPermissions: 0o600])
      else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path.path]) }
      let copy = try FileHandle(forUpdating: path)
      try FileManager.default.removeItem(at: path)
      while let piece = try input.read(upToCount: pieceByteCount), !piece.isEmpty {
        try copy.write(contentsOf: piece)
      }
      return copy
    }

    /// Goes on after a number of bytes, which end a line.
    func skip(to position: Int64) throws {
      buffer = []
      next = 0
      try file.seek(toOffset: UInt64(position))
    }

    /// Reads the next lines, up to a number of them, and the number of their bytes with the line feeds; none at the end.
    func lines(atMost count: Int) throws -> (lines: [[UInt8]], byteCount: Int64) {
      var lines: [[UInt8]] = []
      var byteCount: Int64 = 0
      while lines.count < count, let (line, length) = try line() {
        lines.append(line)
        byteCount += length
      }
      return (lines, byteCount)
    }

    private func line() throws -> (line: [UInt8], byteCount: Int64)? {
      var line: [UInt8] = []
      var byteCount: Int64 = 0
      while true {
        if next == buffer.count {
          buffer = try file.read(upToCount: Self.pieceByteCount).map(Array.init) ?? []
          next = 0
          if buffer.isEmpty { return byteCount == 0 ? nil : (line, byteCount) }
        }
        let end = buffer[next...].firstIndex(of: UInt8(ascii: "\n"))
        let part = buffer[next..<(end ?? buffer.count)]
        line += part.prefix(maximumLineByteCount - line.count)
        byteCount += Int64(part.count)
        next = end.map { $0 + 1 } ?? buffer.count
        if end != nil { return (line, byteCount + 1) }
      }
    }
  }
#endif
