// SPDX-License-Identifier: Apache-2.0

/// One state of a storage, as the reader of a single read sees it. Every read is of it; nothing can be written.
///
/// It is for the thread of that read, and for as long as it lasts.
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

// A storage must be Sendable; this one stays on the thread of its read.
extension SingleState: @unchecked Sendable {}
