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

/// A small file that is written whole, synced and then put in its place. Failures are `StorageError`s.
struct DurableFile {
  enum Opening { case create, truncate }

  let path: String
  private let descriptor: Int32

  /// Opens a file for writing, with a mode whatever the process's mask.
  static func open(
    _ path: String, _ opening: Opening, mode: UInt16 = 0o644
  ) throws(StorageError) -> DurableFile {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (opening == .truncate ? O_TRUNC : 0)
    let descriptor = unsafe systemOpen(path, flags, mode_t(mode))
    guard descriptor >= 0 else { throw failure("It cannot be created", at: path) }
    // Whoever is not its owner may use the file but not change its mode.
    _ = fchmod(descriptor, mode_t(mode))
    return DurableFile(path: path, descriptor: descriptor)
  }

  /// Opens a directory, to be locked.
  static func openDirectory(_ path: String) throws(StorageError) -> DurableFile {
    let descriptor = unsafe systemOpen(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0)
    guard descriptor >= 0 else { throw failure("It cannot be opened", at: path) }
    return DurableFile(path: path, descriptor: descriptor)
  }

  /// The contents of a file; `nil` where there is none.
  static func read(_ path: String, limit: Int) throws(StorageError) -> [UInt8]? {
    let descriptor = unsafe systemOpen(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw failure("It cannot be opened", at: path)
    }
    defer { systemClose(descriptor) }
    var contents: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes { buffer in
        repeatingInterrupted { unsafe systemRead(descriptor, buffer.baseAddress, buffer.count) }
      }
      guard count >= 0 else { throw failure("It cannot be read", at: path) }
      if count == 0 { return contents }
      guard contents.count + count <= limit else {
        throw StorageError(.corrupt, at: path, "It has more than \(limit) bytes, so it is no checkpoint.")
      }
      contents += chunk[..<count]
    }
  }

  /// Has the names of the directory that `path` is in on disk.
  static func synchronizeDirectory(of path: String) throws(StorageError) {
    let end = path.lastIndex(of: "/")
    let directory = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = unsafe systemOpen(directory, O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0)
    defer { systemClose(descriptor) }
    // File systems that cannot sync a directory say EINVAL.
    guard descriptor >= 0, fsync(descriptor) == 0 || errno == EINVAL else {
      throw StorageError(.syncFailed, at: directory, "The directory cannot be synced: \(reason(errno)).")
    }
  }

  /// Waits until nobody else has the file locked. A process that ends gives the lock up.
  func lock(within timeout: Duration) throws(StorageError) {
    let end = ContinuousClock.now + timeout
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw Self.failure("It cannot be locked", at: path)
      }
      guard ContinuousClock.now < end else {
        throw StorageError(.busy, at: path, "Another process has held the lock for \(timeout); try again.")
      }
      _ = usleep(2000)
    }
  }

  func write(_ contents: [UInt8]) throws(StorageError) {
    var written = 0
    while written < contents.count {
      let start = written
      let count = unsafe contents.withUnsafeBytes { buffer in
        repeatingInterrupted {
          unsafe systemWrite(descriptor, buffer.baseAddress.map { unsafe $0 + start }, buffer.count - start)
        }
      }
      guard count > 0 else { throw Self.failure("It cannot be written", at: path) }
      written += count
    }
  }

  func synchronize() throws(StorageError) {
    guard fsync(descriptor) == 0 else { throw Self.failure("It cannot be synced", at: path) }
  }

  func rename(to target: String) throws(StorageError) {
    guard unsafe systemRename(path, target) == 0 else {
      throw Self.failure("It cannot be replaced", at: target)
    }
  }

  func close() { systemClose(descriptor) }

  /// Removes a file. The removal is on disk once its directory is synced.
  static func remove(_ path: String) throws(StorageError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("It cannot be removed", at: path) }
  }

  /// Removes a directory that is empty; returns whether it was.
  static func removeEmptyDirectory(_ path: String) throws(StorageError) -> Bool {
    if unsafe rmdir(path) == 0 { return true }
    guard errno == ENOTEMPTY || errno == EEXIST else { throw failure("It cannot be removed", at: path) }
    return false
  }

  private static func failure(_ what: String, at path: String) -> StorageError {
    let number = errno
    let code: StorageError.Code =
      switch number {
      case ENOENT, ENOTDIR: .notFound
      case ENOSPC, EDQUOT: .full
      default: .inputOutput
      }
    return StorageError(code, at: path, "\(what): \(reason(number)).")
  }

  private static func reason(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}

private func repeatingInterrupted(_ call: () -> Int) -> Int {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}

// Inside the structure these names are its own functions.
private func systemOpen(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
  unsafe open(path, flags, mode)
}

private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }

private func systemRename(_ source: UnsafePointer<CChar>, _ target: UnsafePointer<CChar>) -> Int32 {
  unsafe rename(source, target)
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, buffer, count)
}
