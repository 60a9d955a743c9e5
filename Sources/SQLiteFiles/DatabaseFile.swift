// SPDX-License-Identifier: Apache-2.0

#if SQLite
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #elseif canImport(Android)
    internal import Android
  #else
    internal import Darwin
  #endif

  /// The path of a database's file, and what is done to the file without opening it: POSIX locks are lost as soon as
  /// the process closes any descriptor of the file, so that nobody but SQLite may ever open it.
  package struct DatabaseFile: Sendable {
    /// The path as the user gave it.
    package let path: String

    package init(_ path: String) throws(DatabaseFault) {
      guard !path.isEmpty, !path.utf8.contains(0) else {
        throw DatabaseFault(.notFound, at: path, "A path is not empty and has no zero byte.")
      }
      self.path = path
    }

    /// What SQLite is given: never one of the names that it takes for something else (`:memory:`, `file:…`).
    package var databasePath: String { path.hasPrefix("/") ? path : "./" + path }

    /// What SQLite is given for a file that nobody changes (sqlite.org/uri.html).
    package var immutableURI: String {
      let escaped = databasePath.utf8.map { byte in
        let isPlain =
          byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
          || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
        return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      return "file:\(escaped.joined())?immutable=1"
    }

    /// The file, its log and the index of the log, where the path is no symbolic link.
    package var allPaths: [String] { [databasePath, databasePath + "-wal", databasePath + "-shm"] }

    /// Which file a path leads to.
    package struct Identity: Sendable, Hashable {
      package let device: UInt64
      package let number: UInt64
    }

    package static func status(_ path: String) -> (identity: Identity, size: UInt64, isRegular: Bool)? {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      return (
        Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino)),
        UInt64(max(0, status.st_size)), status.st_mode & S_IFMT == S_IFREG
      )
    }

    /// Makes an empty file next to this one under a name that nobody has, readable by its owner alone.
    package func makeSibling() throws(DatabaseFault) -> DatabaseFile {
      for _ in 0..<16 {
        let suffix = String(UInt64.random(in: .min ... .max), radix: 36)
        let sibling = try DatabaseFile(path + ".new-" + suffix)
        let descriptor = unsafe open(
          sibling.databasePath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
        if descriptor >= 0 {
          _ = Self.closeDescriptor(descriptor)
          return sibling
        }
        if errno != EEXIST { throw failure("cannot be created") }
      }
      throw DatabaseFault(.inputOutput, at: path, "No free name for a new file was found next to it.")
    }

    /// Gives the finished `sibling` this name, which must be free, and has the name on disk when it returns.
    package func take(_ sibling: DatabaseFile) throws(DatabaseFault) {
      // SQLite closes a database without a word when it cannot copy the log into it, for want of space; what is in the
      // log alone would be lost with the log.
      guard Self.status(sibling.databasePath + "-wal")?.size ?? 0 == 0 else {
        throw DatabaseFault(
          .full, at: path, "What was written could not be copied into the file: is there space for it?")
      }
      guard unsafe link(sibling.databasePath, databasePath) == 0 else {
        if errno == EEXIST { throw Self.taken(path) }
        throw failure("cannot be created")
      }
      _ = unsafe unlink(sibling.databasePath)
      try synchronizeDirectory()
    }

    /// Removes the file and what SQLite keeps next to it.
    package func remove() {
      for path in allPaths { _ = unsafe unlink(path) }
    }

    func synchronizeDirectory() throws(DatabaseFault) {
      let directory = databasePath.prefix(through: databasePath.lastIndex(of: "/") ?? databasePath.startIndex)
      let descriptor = unsafe open(String(directory), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard descriptor >= 0 else { throw failure("is in a directory that cannot be opened") }
      defer { _ = Self.closeDescriptor(descriptor) }
      guard fsync(descriptor) == 0 else {
        throw DatabaseFault(.syncFailed, at: path, "Its directory cannot be synced: \(Self.reason()).")
      }
    }

    package static func taken(_ path: String) -> DatabaseFault {
      DatabaseFault(.occupied, at: path, "Nothing new is put over what is there. Choose another path.")
    }

    private func failure(_ what: String) -> DatabaseFault {
      DatabaseFault(errno == ENOSPC ? .full : .inputOutput, at: path, "The file \(what): \(Self.reason()).")
    }

    static func reason() -> String {
      let number = errno
      guard let text = unsafe strerror(number) else { return "error \(number)" }
      return unsafe String(cString: text)
    }

    package static func currentThread() -> UInt {
      #if canImport(Darwin)
        return UInt(bitPattern: pthread_self())
      #else
        return UInt(pthread_self())
      #endif
    }

    package static func sleep(microseconds: UInt32) { _ = usleep(microseconds) }

    private static func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
  }
#endif
