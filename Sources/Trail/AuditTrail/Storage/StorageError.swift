// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension StorageError: CustomStringConvertible {
  /// The code, the place and the message, on one line.
  public var description: String { line }

  /// Makes a system call on a file, and throws an error that states which operation failed.
  static func doing<Result: ~Copyable>(
    _ what: String, at path: String, code: Code? = nil, _ body: @autoclosure () throws(SystemError) -> Result
  ) throws(StorageError) -> Result {
    do {
      return try body()
    } catch {
      let found: Code = error.isNoPlace ? .notFound : error.isFull ? .full : .inputOutput
      throw StorageError(code ?? found, at: path, "\(what): \(error.reason).")
    }
  }

  /// Syncs a directory, so that the names in it are on disk.
  static func synchronizeDirectory(_ path: String) throws(StorageError) {
    try doing(
      "The directory cannot be synced", at: path, code: .syncFailed, try FileSystem.synchronizeDirectory(path)
    )
  }

  static func contents(of path: String, limit: Int) throws(StorageError) -> [UInt8]? {
    do throws(SystemError) {
      if let contents = try FileSystem.read(path, limit: limit) { return contents }
    } catch {
      if error.isMissing { return nil }
      throw StorageError(.inputOutput, at: path, "It cannot be read: \(error.reason).")
    }
    throw StorageError(.corrupt, at: path, "It has more than \(limit) bytes, which no such file has.")
  }
}
