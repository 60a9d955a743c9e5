// SPDX-License-Identifier: Apache-2.0

/// A storage that consists of one state, as the reader of a single read sees it.
///
/// Every read sees this state, and nothing can be written.
///
/// Use it only on the thread of that read, and only for as long as the read lasts.
struct SingleState: TrailStorage {
  private let reader: any StorageReader

  init(_ reader: any StorageReader) { self.reader = reader }

  func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result { try body(reader) }

  func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result { throw Self.closed }

  func scrub() throws { throw Self.closed }

  func byteCount() throws -> UInt64 { throw Self.closed }

  func close() throws {}

  private static let closed = StorageError(.closed, at: "storage", "What is only read cannot be changed.")
}

// The protocol requires Sendable; this storage stays on the thread of its read.
extension SingleState: @unchecked Sendable {}
