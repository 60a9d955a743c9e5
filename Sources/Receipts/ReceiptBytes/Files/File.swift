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

/// An open file or directory, which is closed when the value is destroyed.
package struct File: ~Copyable, Sendable {
  /// The purpose for which a file is opened.
  package enum Access: Sendable {
    /// Reads. Links are followed.
    case reading
    /// Reads or syncs. Links are not followed.
    case readingItself
    /// Writes a file that must not exist yet. Links are not followed.
    case creating
    /// Writes a file that may exist, and keeps its contents. Links are not followed.
    case updating
    /// Writes a file that may exist, and empties it. Links are not followed.
    case replacing
    /// Writes something that exists, of any type. Links are followed.
    case existing
    /// Locks or syncs a directory.
    case directory

    fileprivate var flags: Int32 {
      switch self {
      case .reading: O_RDONLY
      case .readingItself: O_RDONLY | O_NOFOLLOW
      case .creating: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
      case .updating: O_RDWR | O_CREAT | O_NOFOLLOW
      case .replacing: O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW
      case .existing: O_WRONLY
      case .directory: O_RDONLY | O_DIRECTORY
      }
    }
  }

  private let descriptor: Int32

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - access: The purpose.
  ///   - permissions: The permissions of a file that is created; the process's umask is subtracted from them.
  /// - Throws: ``SystemError`` if the file cannot be opened.
  package init(_ path: String, _ access: Access, permissions: UInt16 = 0o644) throws(SystemError) {
    let opened = unsafe open(path, access.flags | O_CLOEXEC, mode_t(permissions))
    guard opened >= 0 else { throw .last }
    descriptor = opened
  }

  deinit { _ = systemClose(descriptor) }

  /// Sets the permissions, regardless of the process's umask. Returns `false` if that fails, for example because the
  /// process does not own the file.
  @discardableResult
  package func setPermissions(_ permissions: UInt16) -> Bool { fchmod(descriptor, mode_t(permissions)) == 0 }

  /// Reads from the current position to the end; returns `nil` if there are more than `limit` bytes.
  package func read(limit: Int) throws(SystemError) -> [UInt8]? {
    var contents: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16384)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes { buffer in
        Self.repeatingInterrupted { unsafe systemRead(descriptor, buffer) }
      }
      guard count >= 0 else { throw .last }
      if count == 0 { return contents }
      guard contents.count + count <= limit else { return nil }
      contents += chunk[..<count]
    }
  }

  /// Reads up to `count` bytes at an offset; the result is shorter if the file ends before.
  package func read(at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(count, 0))
    var total = 0
    while total < bytes.count {
      let got = unsafe bytes.withUnsafeMutableBytes { buffer in
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[total...])
        return Self.repeatingInterrupted {
          unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(total))
        }
      }
      guard got >= 0 else { throw .last }
      if got == 0 { break }
      total += got
    }
    bytes.removeLast(bytes.count - total)
    return bytes
  }

  /// Writes all of the bytes at the current position.
  package func write(_ contents: [UInt8]) throws(SystemError) {
    var written = 0
    while written < contents.count {
      let count = unsafe contents.withUnsafeBytes { buffer in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
        return Self.repeatingInterrupted { unsafe systemWrite(descriptor, rest) }
      }
      guard count > 0 else { throw .last }
      written += count
    }
  }

  /// Moves to the end and returns its offset.
  package func seekToEnd() throws(SystemError) -> Int64 {
    let end = lseek(descriptor, 0, SEEK_END)
    guard end >= 0 else { throw .last }
    return Int64(end)
  }

  /// Truncates the file; errors are ignored.
  package func truncate(to byteCount: Int64) { _ = ftruncate(descriptor, off_t(byteCount)) }

  /// The file's attributes; `nil` if they cannot be determined.
  package var status: Status? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? Status(status) : nil
  }

  /// Waits until the contents are on disk, or the names if this is a directory. `EINVAL` is not an error: devices
  /// report it, and so do file systems that cannot sync a directory.
  package func synchronize() throws(SystemError) {
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw .last }
  }

  /// Waits until the contents are on disk: `fdatasync`, or `F_FULLFSYNC` on Apple systems.
  package func synchronizeContents() throws(SystemError) {
    #if canImport(Darwin)
      let isSynchronized = fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0
    #else
      let isSynchronized = fdatasync(descriptor) == 0
    #endif
    guard isSynchronized else { throw .last }
  }

  /// Locks the file against other processes, and waits up to `timeout` for the lock. Returns `false` if another process
  /// holds the lock all that time. The lock ends when the file is closed or the process ends.
  package func lock(within timeout: Duration = .zero) throws(SystemError) -> Bool {
    let deadline = ContinuousClock.now + timeout
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { throw .last }
      guard ContinuousClock.now < deadline else { return false }
      _ = usleep(2000)
    }
    return true
  }

  package consuming func close() throws(SystemError) {
    let descriptor = descriptor
    discard self
    guard systemClose(descriptor) == 0 else { throw .last }
  }

  private static func repeatingInterrupted(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result >= 0 || errno != EINTR { return result }
    }
  }
}

extension File.Status {
  init(_ status: stat) {
    let type = status.st_mode & S_IFMT
    self.init(
      isDirectory: type == S_IFDIR, isRegularFile: type == S_IFREG,
      permissions: UInt16(truncatingIfNeeded: status.st_mode & 0o7777),
      byteCount: UInt64(max(0, status.st_size)),
      identity: File.Identity(
        device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino)))
  }
}

// Inside the type these names would refer to its own methods.
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  unsafe read(descriptor, buffer.baseAddress, buffer.count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
  unsafe write(descriptor, buffer.baseAddress, buffer.count)
}
