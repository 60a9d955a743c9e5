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

/// Files by their paths, with the durability of POSIX: what was written, synced and whose directory was synced stays.
package enum FileSystem {
  /// The contents of a file; `nil` if it has more than `limit` bytes.
  package static func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8]? {
    try File(path, .reading).read(limit: limit)
  }

  /// Creates a file that must not exist yet, with permissions that hold from the first byte on; its contents are on disk
  /// when this returns. A file that could not be written whole is removed.
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

  /// The file at a path; `nil` if there is nothing.
  package static func status(_ path: String) throws(SystemError) -> File.Status? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw .last
    }
    return File.Status(status)
  }

  /// The file of a descriptor; `nil` if it is not open.
  package static func status(ofDescriptor descriptor: Int32) -> File.Status? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? File.Status(status) : nil
  }

  /// The file at a path, or the symbolic link itself; `nil` if there is nothing.
  package static func linkStatus(_ path: String) throws(SystemError) -> File.Status? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw .last
    }
    return File.Status(status)
  }

  /// Gives a file another name, in place of whatever has it.
  package static func rename(_ path: String, to target: String) throws(SystemError) {
    guard unsafe systemRename(path, target) == 0 else { throw .last }
  }

  /// Gives a file a second name, which must be free.
  package static func link(_ path: String, as name: String) throws(SystemError) {
    guard unsafe systemLink(path, name) == 0 else { throw .last }
  }

  /// Removes a file, if there is one.
  package static func remove(_ path: String) throws(SystemError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .last }
  }

  /// Makes a directory.
  package static func makeDirectory(_ path: String, permissions: UInt16) throws(SystemError) {
    guard unsafe mkdir(path, mode_t(permissions)) == 0 else { throw .last }
  }

  /// Removes a directory if it is empty; `false` where it is not.
  package static func removeDirectory(_ path: String) throws(SystemError) -> Bool {
    if unsafe rmdir(path) == 0 { return true }
    guard errno == ENOTEMPTY || errno == EEXIST else { throw .last }
    return false
  }

  /// The names in a directory, in no order.
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

  /// Returns when the names in a directory are on disk: a file synced under a name that is not would be lost.
  package static func synchronizeDirectory(_ path: String) throws(SystemError) {
    try File(path, .directory).synchronize()
  }

  /// The path with every symbolic link followed; `nil` if that cannot be done, or gives a name that is not UTF-8.
  package static func resolved(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(validatingCString: real)
  }

  /// The directory that a path is in.
  package static func directory(of path: String) -> String {
    guard let end = path.lastIndex(of: "/") else { return "." }
    return end == path.startIndex ? "/" : String(path[..<end])
  }
}

// Inside the type these names are its own functions.
private func systemRename(_ path: UnsafePointer<CChar>, _ target: UnsafePointer<CChar>) -> Int32 {
  unsafe rename(path, target)
}

private func systemLink(_ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>) -> Int32 {
  unsafe link(path, name)
}
