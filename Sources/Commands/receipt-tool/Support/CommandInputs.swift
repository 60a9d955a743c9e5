// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ReceiptBytes
import ReceiptSigning
import Synchronization

/// The files that the command reads or works on. No output may replace one of them: not even with `--overwrite`, under
/// another name, or through a link. ``InputFile`` adds each file that it opens. The types that name other files, such
/// as ``TrailLocation`` and `StoreFolder`, add those. ``NewFile`` and ``PendingFile`` check.
enum CommandInputs {
  private struct Known {
    /// The names of the opened files, by file identity.
    var opened: [File.Identity: String] = [:]
    /// The paths of files that exist or will be created.
    var named: Set<String> = []
  }

  private static let known = Mutex(Known())

  static func add(_ identity: File.Identity, name: String) {
    known.withLock { $0.opened[identity] = name }
  }

  /// Adds files by their paths. They need not exist yet.
  static func add(paths: [String]) { known.withLock { $0.named.formUnion(paths) } }

  /// Adds a SQLite database: its file, and the files that SQLite keeps beside it.
  static func add(database path: String) {
    add(paths: ["", "-wal", "-shm", "-journal"].map { path + $0 })
  }

  static func add(identity directory: String) {
    add(paths: IdentityDirectory.fileNames.map { "\(directory)/\($0)" })
  }

  /// Adds standard input if it is a regular file. A closed stream is not.
  static func addStandardInput() {
    if let status = FileSystem.status(ofDescriptor: STDIN_FILENO), status.isRegularFile {
      add(status.identity, name: "standard input")
    }
  }

  /// Refuses an output that would replace an input.
  ///
  /// - Throws: Exit code 73.
  static func refuse(asOutput path: String) throws(ExitCode) {
    guard let input = input(at: path) else { return }
    throw ToolExit.failure(
      .cannotCreate,
      input == path
        ? "\(path) is an input of this command; name another file for the output"
        : "\(path) is \(input), an input of this command; name another file for the output")
  }

  private static func input(at path: String) -> String? {
    let known = known.withLock { $0 }
    guard let status = try? FileSystem.status(path) else {
      // The output does not exist yet. The same name in the same folder will be the same file.
      let place = Place(path)
      return place == nil ? nil : known.named.first { Place($0) == place }
    }
    guard status.isRegularFile else { return nil }
    if let name = known.opened[status.identity] { return name }
    return known.named.sorted().first { (try? FileSystem.status($0))?.identity == status.identity }
  }

  /// A name in a folder, which identifies a file that does not exist yet.
  private struct Place: Equatable {
    let folder: File.Identity
    let name: Substring

    init?(_ path: String) {
      guard let folder = try? FileSystem.status(FileSystem.directory(of: path)) else { return nil }
      self.folder = folder.identity
      name = path.split(separator: "/").last ?? ""
    }
  }
}
