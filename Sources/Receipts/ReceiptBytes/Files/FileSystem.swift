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

/// Operations on files by path, with the durability of POSIX. A file survives a crash once its contents and its
/// directory are synced.
package enum FileSystem {
  /// Returns the contents of a file; `nil` if it has more than `limit` bytes.
  package static func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8]? {
    try File(path, .reading).read(limit: limit)
  }

  /// Creates a file that must not exist yet and waits until its contents are on disk. The permissions apply before the
  /// first byte is written. If writing or syncing fails, the file is removed.
  package static func create(
    _ path: String, permissions: UInt16, contents: [UInt8]
  ) throws(SystemError) {
    let file = try File(path, .creating, permissions: permissions)
    do throws(SystemError) {
      try file.write(contents)
      try file.synchronize()
    } catch {
      try? remove(path)
      throw error
    }
    try file.close()
  }

  /// Returns the attributes of the file at a path, links followed; `nil` if it does not exist.
  package static func status(_ path: String) throws(SystemError) -> File.Status? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw .last
    }
    return File.Status(status)
  }

  /// Returns the attributes of the file that a descriptor refers to; `nil` if the descriptor is not open.
  package static func status(ofDescriptor descriptor: Int32) -> File.Status? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? File.Status(status) : nil
  }

  /// Returns the attributes of the file at a path, or of the link itself; `nil` if it does not exist.
  package static func linkStatus(_ path: String) throws(SystemError) -> File.Status? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw .last
    }
    return File.Status(status)
  }

  /// Renames a file and replaces any file that has the new name.
  package static func rename(_ path: String, to target: String) throws(SystemError) {
    guard unsafe systemRename(path, target) == 0 else { throw .last }
  }

  /// Gives a file a second name, which must not exist yet.
  package static func link(_ path: String, as name: String) throws(SystemError) {
    guard unsafe systemLink(path, name) == 0 else { throw .last }
  }

  /// Removes a file; does nothing if it does not exist.
  package static func remove(_ path: String) throws(SystemError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .last }
  }

  package static func makeDirectory(_ path: String, permissions: UInt16) throws(SystemError) {
    guard unsafe mkdir(path, mode_t(permissions)) == 0 else { throw .last }
  }

  /// Creates a directory and those above it, as far as they do not exist, with the permissions that the umask leaves.
  package static func makeDirectories(_ path: String) throws(SystemError) {
    if try status(path)?.isDirectory == true { return }
    let parent = directory(of: path)
    if parent != path, parent != "." { try makeDirectories(parent) }
    // Another process may have created it meanwhile.
    guard unsafe mkdir(path, 0o777) == 0 || errno == EEXIST else { throw .last }
    guard try status(path)?.isDirectory == true else { throw SystemError(number: ENOTDIR) }
  }

  /// Removes a directory if it is empty; returns `false` if it is not.
  package static func removeDirectory(_ path: String) throws(SystemError) -> Bool {
    if unsafe rmdir(path) == 0 { return true }
    guard errno == ENOTEMPTY || errno == EEXIST else { throw .last }
    return false
  }

  /// Returns the names in a directory, in unspecified order.
  package static func names(in directory: String) throws(SystemError) -> [String] {
    guard let handle = unsafe opendir(directory) else { throw .last }
    defer { unsafe closedir(handle) }
    var names: [String] = []
    while let entry = unsafe readdir(handle) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 1) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Waits until the names in a directory are on disk. A synced file is lost in a crash if its name is not on disk.
  package static func synchronizeDirectory(_ path: String) throws(SystemError) {
    try File(path, .directory).synchronize()
  }

  /// Returns the path with all symbolic links resolved; `nil` if that fails or the result is not UTF-8.
  package static func resolved(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(validatingCString: real)
  }

  /// Returns the path of the directory that contains a path.
  package static func directory(of path: String) -> String {
    guard let end = path.lastIndex(of: "/") else { return "." }
    return end == path.startIndex ? "/" : String(path[..<end])
  }
}

// Inside the type these names would refer to its own methods.
private func systemRename(_ path: UnsafePointer<CChar>, _ target: UnsafePointer<CChar>) -> Int32 {
  unsafe rename(path, target)
}

private func systemLink(_ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>) -> Int32 {
  unsafe link(path, name)
}
