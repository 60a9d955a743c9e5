// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The files of downloads in a directory: `NAME.part` during a download, `NAME.content` when it is complete. Only the
/// owner may read them, and links are not followed.
package struct DownloadFolder: DownloadFiles {
  private static let partialSuffix = ".part"

  private let directory: String

  /// Opens a directory, which is created if it does not exist. Its parent must exist.
  package init(_ directory: String) throws(DownloadError) {
    guard !directory.isEmpty, !directory.utf8.contains(0) else {
      throw DownloadError(.inputOutput, at: directory, "A path is not empty and has no zero byte.")
    }
    self.directory = directory
    try Self.perform("The directory cannot be made", at: directory, try Self.makeDirectory(directory))
  }

  private static func makeDirectory(_ directory: String) throws(SystemError) {
    do { try FileSystem.makeDirectory(directory, permissions: 0o700) } catch {
      guard error.isExisting else { throw error }
      try File(directory, .directory).close()
    }
  }

  package func path(of file: DownloadFile) -> String {
    switch file {
    case .partial(let name): "\(directory)/\(name)\(Self.partialSuffix)"
    case .complete(let name): "\(directory)/\(name).content"
    }
  }

  package func byteCount(of file: DownloadFile) throws(DownloadError) -> Int64? {
    let path = path(of: file)
    let status = try Self.perform("The file cannot be looked at", at: path, try FileSystem.linkStatus(path))
    guard let status else { return nil }
    try DownloadError.require(
      status.isRegularFile, .inputOutput, at: path, "This is no regular file. Remove it.")
    return Int64(clamping: status.byteCount)
  }

  package func append(_ bytes: [UInt8], to name: String, at offset: Int64) throws(DownloadError) -> Bool {
    let path = path(of: .partial(name))
    let file = try Self.perform(
      "The file cannot be opened", at: path, try File(path, .updating, permissions: 0o600))
    guard (try? file.seekToEnd()) == offset else { return false }
    do { try Self.perform("The file cannot be written", at: path, try file.write(bytes)) } catch {
      // Restores the length that callers rely on after an error, and frees the space if the disk is full.
      file.truncate(to: offset)
      throw error
    }
    return true
  }

  package func read(_ file: DownloadFile, at offset: Int64, count: Int) throws(DownloadError) -> [UInt8] {
    let path = path(of: file)
    return try Self.perform(
      "The file cannot be read", at: path, try File(path, .readingItself).read(at: offset, count: count))
  }

  package func complete(_ name: String) throws(DownloadError) {
    if try byteCount(of: .partial(name)) != nil {
      let partial = path(of: .partial(name))
      try Self.synchronize(partial, .readingItself)
      try Self.perform(
        "The file cannot be renamed", at: partial,
        try FileSystem.rename(partial, to: path(of: .complete(name))))
    } else {
      try Self.synchronize(path(of: .complete(name)), .readingItself)
    }
    try Self.synchronize(directory, .directory)
  }

  package func remove(_ file: DownloadFile) throws(DownloadError) {
    let path = path(of: file)
    try Self.perform("The file cannot be removed", at: path, try FileSystem.remove(path))
  }

  package func partialNames() throws(DownloadError) -> [String] {
    let names = try Self.perform(
      "The directory cannot be read", at: directory, try FileSystem.names(in: directory))
    return names.filter { $0.hasSuffix(Self.partialSuffix) }.map {
      String($0.dropLast(Self.partialSuffix.count))
    }
  }

  private static func synchronize(_ path: String, _ access: File.Access) throws(DownloadError) {
    try perform("The file cannot be synced", at: path, try File(path, access).synchronize())
  }

  /// Runs a system call, and converts its error into one that names the operation.
  private static func perform<Result: ~Copyable>(
    _ what: String, at path: String, _ call: @autoclosure () throws(SystemError) -> Result
  ) throws(DownloadError) -> Result {
    do { return try call() } catch {
      if error.isFull {
        throw DownloadError(.diskFull, at: path, "\(what): \(error.reason). Make space, then resume.")
      }
      throw DownloadError(.inputOutput, at: path, "\(what): \(error.reason).")
    }
  }
}

/// Stores the bytes of downloads. A partial file becomes a complete one. Names are hexadecimal digits, so that no text
/// from a server becomes part of a path.
package protocol DownloadFiles: Sendable {
  /// The length of a file; `nil` if the file does not exist.
  func byteCount(of file: DownloadFile) throws(DownloadError) -> Int64?

  /// Appends to a partial file, which is created if it does not exist. If its length is not `offset`, this writes
  /// nothing and returns `false`. After an error the length is unchanged.
  func append(_ bytes: [UInt8], to name: String, at offset: Int64) throws(DownloadError) -> Bool

  /// Reads at most `count` bytes from an offset. The result is empty at the end.
  func read(_ file: DownloadFile, at offset: Int64, count: Int) throws(DownloadError) -> [UInt8]

  /// Syncs the partial file and renames it to the complete one. If only the complete file exists, syncs that. After
  /// this returns, the bytes and the name survive a crash.
  func complete(_ name: String) throws(DownloadError)

  func remove(_ file: DownloadFile) throws(DownloadError)

  func partialNames() throws(DownloadError) -> [String]

  func path(of file: DownloadFile) -> String
}
