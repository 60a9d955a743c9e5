// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import AuditTrailPostgreSQL
import AuditTrailSQLite
import ReceiptBytes
import Glibc
import TransparencyLog

/// The location of a trail and of its files: `TRAIL.key`, `TRAIL.pub` and `TRAIL.checkpoint`.
struct TrailLocation {
  /// A path, or a `postgresql://` URL.
  let trail: String
  let privateKeyFile: String
  let publicKey: String
  let checkpointFile: String
  /// Indicates whether the private key was given as an option. It must exist then.
  let namesPrivateKey: Bool

  init(_ trail: String, privateKey: String?, publicKey: String?, checkpoint: String?) {
    self.trail = trail
    let base = Self.base(of: trail)
    privateKeyFile = privateKey ?? "\(base).key"
    namesPrivateKey = privateKey != nil
    self.publicKey = publicKey ?? "\(base).pub"
    checkpointFile = checkpoint ?? "\(base).checkpoint"
    if !isServer { CommandInputs.add(database: trail) }
    CommandInputs.add(paths: [
      privateKeyFile, self.publicKey, checkpointFile, "\(base).key", "\(base).pub", "\(base).checkpoint",
    ])
  }

  var isServer: Bool { Self.isURL(trail) }

  /// The trail's name for messages, without a password in its URL.
  var name: String {
    guard isServer, let scheme = trail.firstRange(of: "://"), let at = trail.lastIndex(of: "@"),
      scheme.upperBound < at, let colon = trail[scheme.upperBound..<at].firstIndex(of: ":")
    else { return trail }
    return String(trail[..<colon] + trail[at...])
  }

  private static func isURL(_ trail: String) -> Bool {
    trail.hasPrefix("postgresql://") || trail.hasPrefix("postgres://")
  }

  /// The path prefix of the key files. For a trail on a server, they are in the current directory, and are named after
  /// its database and, if given, its schema.
  private static func base(of trail: String) -> String {
    guard isURL(trail) else { return trail }
    let parts = trail.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts[0].split(separator: "/", omittingEmptySubsequences: true)
    let database = path.count > 2 ? String(path[2]) : "audit"
    let schema = parts.dropFirst().first?.split(separator: "&").first { $0.hasPrefix("schema=") }
    let name = database + (schema.map { "." + $0.dropFirst("schema=".count) } ?? "")
    return String(name.map { $0.isLetter || $0.isNumber || "._-".contains($0) ? $0 : "_" })
  }

  // MARK: Keys

  func verifierKey() throws -> NoteVerifierKey { try Self.verifierKey(publicKey) }

  /// Reads a key from a text, or from the file that the text names.
  static func verifierKey(_ text: String) throws -> NoteVerifierKey {
    if let key = try? NoteVerifierKey(text) { return key }
    let contents = try InputFile.contents(of: text, limit: 1 << 16)
    let line = String(decoding: contents, as: UTF8.self).split(whereSeparator: \.isNewline).first ?? ""
    return try ToolExit.reading(orElse: "\(text) holds no public key of a trail (NAME+ID+BASE64)") {
      try NoteVerifierKey(String(line))
    }
  }

  /// The private key; `nil` if no key was given and none is stored beside the trail.
  func signer(named name: String) throws -> NoteSignerKey? {
    guard namesPrivateKey || NewFile.exists(privateKeyFile) else { return nil }
    return try Self.signer(named: name, in: privateKeyFile)
  }

  static func signer(named name: String, in file: String) throws -> NoteSignerKey {
    let pem = try InputFile.contents(of: file, limit: 1 << 16)
    if let status = try? FileSystem.status(file), status.permissions & 0o077 != 0 {
      note("receipt-tool: warning: others can read the private key \(file); chmod 600 it")
    }
    return try ToolExit.reading(orElse: "\(file) holds no Ed25519 private key in PEM") {
      try NoteSignerKey(name: name, pem: String(decoding: pem, as: UTF8.self))
    }
  }

  func requiredSigner() throws -> NoteSignerKey {
    guard let signer = try signer(named: verifierKey().name) else {
      throw ToolExit.failure(
        .unreadableInput, "the private key is missing at \(privateKeyFile); name it with --private-key")
    }
    return signer
  }

  // MARK: Storage

  /// The store of the last checkpoint: a file, or a table on a PostgreSQL server with the checkpoints of many trails.
  func checkpoints(of origin: String) throws -> any CheckpointStore {
    guard Self.isURL(checkpointFile) else { return FileCheckpointStore(path: checkpointFile) }
    #if PostgreSQL
      return try PostgreSQLCheckpointStore(checkpointFile, name: origin)
    #else
      throw Self.withoutPostgreSQL
    #endif
  }

  private static var withoutPostgreSQL: ExitCode {
    ToolExit.failure(.usage, "this build has no PostgreSQL; build it with: swift build --traits PostgreSQL")
  }

  /// The storage of an existing trail for a command that only reads. It may be write-protected.
  func storageForReading() throws -> any TrailStorage {
    let mayWrite = unsafe access(trail, W_OK) == 0 && access(FileSystem.directory(of: trail), W_OK) == 0
    if !isServer, NewFile.exists(trail), !mayWrite { return try SQLiteStorage(readingAt: trail) }
    do {
      return try storage(creating: false)
    } catch let error as StorageError where !isServer && [.full, .inputOutput].contains(error.code) {
      // On a full disk SQLite cannot create its files beside the trail. Reading may not need them.
      guard let storage = try? SQLiteStorage(readingAt: trail) else { throw error }
      return storage
    }
  }

  func storage(creating: Bool) throws -> any TrailStorage {
    if isServer {
      #if PostgreSQL
        return try creating ? PostgreSQLStorage(creatingAt: trail) : PostgreSQLStorage(openingAt: trail)
      #else
        throw Self.withoutPostgreSQL
      #endif
    }
    return try creating ? SQLiteStorage(creatingAt: trail) : SQLiteStorage(openingAt: trail)
  }

  /// The existing storage, or a new one.
  func storageOrNew() throws -> any TrailStorage {
    do {
      return try storage(creating: false)
    } catch let error as StorageError where error.code == .notFound {
      return try storage(creating: true)
    }
  }

  /// Opens the trail; for writing with its private key.
  func open(writing: Bool, options: AuditLog.Options = AuditLog.Options()) throws -> AuditLog {
    let verifier = try verifierKey()
    let signer = writing ? try requiredSigner() : nil
    let storage: any TrailStorage
    let checkpoints: any CheckpointStore
    do {
      checkpoints = try self.checkpoints(of: verifier.name)
      storage = try writing ? self.storage(creating: false) : storageForReading()
    } catch { throw ToolExit.failure(for: error, name) }
    do throws(AuditError) {
      return try AuditLog.open(
        storage, verifier: verifier, signer: signer, checkpoints: checkpoints, options: options)
    } catch {
      try? storage.close()
      throw ToolExit.failure(for: error, name)
    }
  }

  /// Opens the trail, does work on it and closes it.
  func withLog<Result>(writing: Bool = false, _ body: (AuditLog) throws -> Result) throws -> Result {
    let log = try open(writing: writing)
    do {
      let result = try body(log)
      try log.close()
      return result
    } catch {
      throw ToolExit.failure(for: error, name)
    }
  }

  /// Does work on the trail with a progress bar; `subject` is what the message of an error begins with.
  func work<Result>(
    _ verb: String, on subject: String? = nil, _ body: (Progress) throws -> Result
  ) throws -> Result {
    let progress = Progress(verb)
    do {
      let result = try body(progress)
      progress.finish()
      return result
    } catch {
      progress.clear()
      throw ToolExit.failure(for: error, subject ?? name)
    }
  }

  // MARK: Failures

  /// The entries are stored and acknowledged; only the checkpoint is missing.
  static func checkpointFailure(_ error: AuditError, _ name: String) -> ExitCode {
    ToolExit.failure(
      .inputOutput,
      "\(name): the entries are stored, but no signed checkpoint covers them: \(error.description); when that is "
        + "mended: receipt-tool audit checkpoint \(name)")
  }
}
