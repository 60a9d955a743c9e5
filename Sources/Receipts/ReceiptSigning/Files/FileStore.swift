// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// The files of identities, which are small, written completely or not at all, and never replaced by accident.
package enum FileStore {
  /// The maximum size of a file; identity files have a few kilobytes, so a larger file is not one.
  static let maximumByteCount = 1 << 20

  package static func read(_ path: String) throws(SigningError) -> [UInt8] {
    do throws(SystemError) {
      if let contents = try FileSystem.read(path, limit: maximumByteCount) { return contents }
    } catch {
      throw SigningError(.unreadableFile, at: path, "The file cannot be read: \(error.reason).")
    }
    throw SigningError(
      .unreadableFile, at: path, "The file has more than \(maximumByteCount) bytes: no key or certificate.")
  }

  static func status(_ path: String) throws(SigningError) -> File.Status? {
    do throws(SystemError) {
      return try FileSystem.status(path)
    } catch {
      throw SigningError(.unreadableFile, at: path, "It cannot be looked at: \(error.reason).")
    }
  }

  /// Creates the directory for its owner alone, unless it exists.
  package static func ensureDirectory(_ path: String) throws(SigningError) {
    do throws(SystemError) {
      try FileSystem.makeDirectory(path, permissions: 0o700)
    } catch {
      guard error.isExisting else {
        throw SigningError(.unwritableFile, at: path, "The directory cannot be made: \(error.reason).")
      }
      guard try status(path)?.isDirectory == true else {
        throw SigningError(.unwritableFile, at: path, "Something that is no directory is in its place.")
      }
    }
  }

  /// Creates a file; throws if it exists.
  static func create(_ path: String, mode: UInt16, contents: [UInt8]) throws(SigningError) {
    do throws(SystemError) {
      try FileSystem.create(path, permissions: mode, contents: contents)
    } catch {
      throw error.isExisting
        ? exists(path) : SigningError(.unwritableFile, at: path, "It cannot be written: \(error.reason).")
    }
  }

  /// Replaces a file atomically: readers see either the old or the new contents.
  package static func replace(_ path: String, mode: UInt16, contents: [UInt8]) throws(SigningError) {
    let suffix = Random.bytes(8).map { String($0, radix: 16) }.joined()
    let temporary = "\(path).\(suffix).new"
    let unfinished = UnfinishedFile(temporary)
    defer { unfinished.finish() }
    try create(temporary, mode: mode, contents: contents)
    do throws(SystemError) {
      try FileSystem.rename(temporary, to: path)
    } catch {
      remove(temporary)
      throw SigningError(.unwritableFile, at: path, "It cannot be replaced: \(error.reason).")
    }
  }

  static func remove(_ path: String) { try? FileSystem.remove(path) }

  static func synchronizeDirectory(_ path: String) throws(SigningError) {
    do throws(SystemError) {
      try FileSystem.synchronizeDirectory(path)
    } catch {
      throw SigningError(.unwritableFile, at: path, "The directory cannot be synced: \(error.reason).")
    }
  }

  static func exists(_ path: String) -> SigningError {
    SigningError(
      .fileExists, at: path,
      "The file is there already. Choose another directory, or ask for overwriting by name.")
  }
}
