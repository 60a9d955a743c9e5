// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#else
  internal import Darwin
#endif

/// Downloads in a directory: `NAME.part` while it comes, `NAME.content` when it is complete. Only the owner may read
/// them, and links are not followed.
package struct DownloadFolder: DownloadFiles {
  private static let partialSuffix = ".part"
  private static let completeSuffix = ".content"

  private let directory: String

  /// Uses a directory, which is made if it is not there; the one around it must be.
  package init(_ directory: String) throws(DownloadError) {
    guard !directory.isEmpty, !directory.utf8.contains(0) else {
      throw DownloadError(.inputOutput, at: directory, "A path is not empty and has no zero byte.")
    }
    self.directory = directory
    guard unsafe mkdir(directory, 0o700) != 0 else { return }
    guard errno == EEXIST else { throw Self.failure("The directory cannot be made", at: directory) }
    let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure("The directory cannot be opened", at: directory) }
    _ = close(descriptor)
  }

  package func path(of name: String) -> String { path(.complete(name)) }

  private func path(_ file: DownloadFile) -> String {
    switch file {
    case .partial(let name): "\(directory)/\(name)\(Self.partialSuffix)"
    case .complete(let name): "\(directory)/\(name)\(Self.completeSuffix)"
    }
  }

  package func byteCount(of file: DownloadFile) throws(DownloadError) -> Int64? {
    let path = path(file)
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw Self.failure("The file cannot be looked at", at: path)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw DownloadError(.inputOutput, at: path, "This is no regular file. Remove it.")
    }
    return Int64(status.st_size)
  }

  package func append(_ bytes: [UInt8], to name: String, at offset: Int64) throws(DownloadError) -> Bool {
    let path = path(.partial(name))
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
    guard descriptor >= 0 else { throw Self.failure("The file cannot be opened", at: path) }
    defer { _ = close(descriptor) }
    guard lseek(descriptor, 0, SEEK_END) == offset else { return false }
    var written = 0
    while written < bytes.count {
      let rest = bytes[written...]
      let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let error = Self.failure("The file cannot be written", at: path)
        // Half a part is as good as none, and a disk that is full has use for its space.
        _ = ftruncate(descriptor, off_t(offset))
        throw error
      }
      written += count
    }
    return true
  }

  package func read(_ file: DownloadFile, at offset: Int64, count: Int) throws(DownloadError) -> [UInt8] {
    let path = path(file)
    let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure("The file cannot be opened", at: path) }
    defer { _ = close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: max(count, 0))
    var total = 0
    while total < bytes.count {
      let start = total
      let position = off_t(offset) + off_t(start)
      let got = unsafe bytes.withUnsafeMutableBytes { buffer in
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
        return unsafe pread(descriptor, rest.baseAddress, rest.count, position)
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw Self.failure("The file cannot be read", at: path) }
      if got == 0 { break }
      total += got
    }
    bytes.removeLast(bytes.count - total)
    return bytes
  }

  package func complete(_ name: String) throws(DownloadError) {
    if try byteCount(of: .partial(name)) != nil {
      let partial = path(.partial(name))
      try Self.synchronize(partial, O_WRONLY | O_NOFOLLOW)
      guard unsafe rename(partial, path(of: name)) == 0 else {
        throw Self.failure("The file cannot be renamed", at: partial)
      }
    } else {
      try Self.synchronize(path(of: name), O_WRONLY | O_NOFOLLOW)
    }
    try Self.synchronize(directory, O_RDONLY | O_DIRECTORY)
  }

  package func remove(_ file: DownloadFile) throws(DownloadError) {
    let path = path(file)
    guard unsafe unlink(path) == 0 || errno == ENOENT else {
      throw Self.failure("The file cannot be removed", at: path)
    }
  }

  package func partialNames() throws(DownloadError) -> [String] {
    guard let handle = unsafe opendir(directory) else {
      throw Self.failure("The directory cannot be read", at: directory)
    }
    defer { unsafe closedir(handle) }
    var names: [String] = []
    while let entry = unsafe readdir(handle) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 1) { unsafe String(cString: $0) }
      }
      if name.hasSuffix(Self.partialSuffix) { names.append(String(name.dropLast(Self.partialSuffix.count))) }
    }
    return names
  }

  private static func synchronize(_ path: String, _ flags: Int32) throws(DownloadError) {
    let descriptor = unsafe open(path, flags | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("The file cannot be opened", at: path) }
    defer { _ = close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("The file cannot be synced", at: path) }
  }

  private static func failure(_ what: String, at path: String) -> DownloadError {
    let number = errno
    let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    if number == ENOSPC || number == EDQUOT {
      return DownloadError(.diskFull, at: path, "\(what): \(reason). Make space, then resume.")
    }
    return DownloadError(.inputOutput, at: path, "\(what): \(reason).")
  }
}
