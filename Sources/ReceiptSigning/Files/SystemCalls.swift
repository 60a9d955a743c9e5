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

/// The calls of POSIX that identity files need, on paths as they are given.
enum SystemCalls {
  /// A failed call: `errno` in words.
  struct Failure: Error, Sendable {
    let number: Int32
    var isExisting: Bool { number == EEXIST }
    var reason: String {
      guard let text = unsafe strerror(number) else { return "error \(number)" }
      return unsafe String(cString: text)
    }
  }

  /// What is known of a file before it is read.
  struct Status: Sendable {
    let isDirectory: Bool
    let isRegularFile: Bool
    /// Permission bits, such as `0o600`.
    let permissions: UInt32
  }

  /// Creates a file that must not exist yet, writes it whole and has it on disk when it returns. The mode
  /// holds from the first byte; a file that could not be written whole is removed.
  static func create(_ path: String, mode: UInt32, contents: [UInt8]) throws(Failure) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(mode))
    guard descriptor >= 0 else { throw Failure(number: errno) }
    do throws(Failure) {
      try write(contents, to: descriptor)
      guard fsync(descriptor) == 0 else { throw Failure(number: errno) }
    } catch {
      _ = close(descriptor)
      _ = unsafe unlink(path)
      throw error
    }
    guard close(descriptor) == 0 else { throw Failure(number: errno) }
  }

  /// Reads a file of at most `limit` bytes; `nil` when it is longer.
  static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(number: errno) }
    defer { _ = close(descriptor) }
    var contents: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16384)
    while true {
      let capacity = chunk.count
      let count = unsafe chunk.withUnsafeMutableBytes { buffer in
        repeatingInterrupted { unsafe systemRead(descriptor, buffer.baseAddress, capacity) }
      }
      guard count >= 0 else { throw Failure(number: errno) }
      if count == 0 { return contents }
      guard contents.count + count <= limit else { return nil }
      contents += chunk[..<count]
    }
  }

  static func makeDirectory(_ path: String, mode: UInt32) throws(Failure) {
    guard unsafe mkdir(path, mode_t(mode)) == 0 else { throw Failure(number: errno) }
  }

  /// `nil` where there is nothing at the path.
  static func status(_ path: String) throws(Failure) -> Status? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw Failure(number: errno)
    }
    let type = status.st_mode & S_IFMT
    return Status(
      isDirectory: type == S_IFDIR, isRegularFile: type == S_IFREG,
      permissions: UInt32(status.st_mode) & 0o7777)
  }

  static func rename(_ source: String, to target: String) throws(Failure) {
    guard unsafe systemRename(source, target) == 0 else { throw Failure(number: errno) }
  }

  static func remove(_ path: String) { _ = unsafe unlink(path) }

  /// Has the names of a directory on disk: a file synced under a name that is not would be lost.
  static func synchronizeDirectory(_ path: String) throws(Failure) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard descriptor >= 0 else { throw Failure(number: errno) }
    defer { _ = close(descriptor) }
    // File systems that cannot sync a directory say EINVAL.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw Failure(number: errno) }
  }

  private static func write(_ contents: [UInt8], to descriptor: Int32) throws(Failure) {
    var written = 0
    while written < contents.count {
      let start = written
      let count = unsafe contents.withUnsafeBytes { buffer in
        repeatingInterrupted {
          unsafe systemWrite(descriptor, buffer.baseAddress.map { unsafe $0 + start }, buffer.count - start)
        }
      }
      guard count > 0 else { throw Failure(number: errno) }
      written += count
    }
  }

  private static func repeatingInterrupted(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result >= 0 || errno != EINTR { return result }
    }
  }
}

// Inside the enumeration these names are its own functions.
private func systemRename(_ source: UnsafePointer<CChar>, _ target: UnsafePointer<CChar>) -> Int32 {
  unsafe rename(source, target)
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, buffer, count)
}
