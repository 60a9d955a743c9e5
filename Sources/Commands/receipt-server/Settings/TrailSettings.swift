// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import AuditTrailPostgreSQL
  import AuditTrailSQLite
  import Foundation
  import ReceiptBytes
  import ReceiptService
  import ReceiptSigning
  import TransparencyLog

  /// The files of the audit trail, the same as those of `receipt-tool audit`: `TRAIL.key`, `TRAIL.pub` and
  /// `TRAIL.checkpoint`.
  ///
  /// Several servers may write to one trail in PostgreSQL. All of them need the same key. Servers on one machine share
  /// the files. For servers on several machines, copy `TRAIL.key` and `TRAIL.pub` from the server that was started
  /// first, and keep the last checkpoint in PostgreSQL, too, but on a different database server than the trail.
  struct TrailSettings {
    /// The time that a starting server waits while another one creates the trail.
    private static let creationTimeout: Duration = .seconds(60)

    /// A path, or a `postgresql://` URL.
    let trail: String
    /// The path prefix of the key files.
    let files: String
    /// The location of the last checkpoint: a path, or a `postgresql://` URL.
    let checkpoint: String
    let origin: String

    init(_ trail: String, files: String?, checkpoint: String?, origin: String?) throws {
      guard let files else {
        throw ServiceConfigurationError(
          "audit.files",
          "Of a trail in PostgreSQL, name the prefix of the paths of its key and its last checkpoint, such as "
            + "/var/lib/receipt-server/audit.")
      }
      self.trail = trail
      self.files = files
      self.checkpoint = checkpoint ?? "\(files).checkpoint"
      self.origin = origin ?? "receipt-server/\(URL(filePath: files).lastPathComponent)"
    }

    private var keyFile: String { "\(files).key" }
    private var publicKeyFile: String { "\(files).pub" }
    private var exists: Bool { Self.isThere(publicKeyFile) }

    private static func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// Checks, as far as the files allow, that the trail can be opened or created, and changes nothing.
    ///
    /// A missing trail is not created anew if its keys or its last checkpoint exist, because the loss of its entries
    /// would go unnoticed.
    ///
    /// - Throws: `ServiceConfigurationError`.
    func check() throws {
      try ServerSettings.requireFolder(of: publicKeyFile, "audit.files")
      if !ServerSettings.isURL(checkpoint) {
        try ServerSettings.requireFolder(of: checkpoint, "audit.checkpoint")
      }
      let hasFile = ServerSettings.isURL(trail) || Self.isThere(trail)
      if !hasFile {
        try ServerSettings.requireFolder(of: trail, "audit.trail")
        // A private key alone remains from an interrupted creation.
        let remains = [publicKeyFile, checkpoint].filter { !ServerSettings.isURL($0) && Self.isThere($0) }
        guard remains.isEmpty else {
          throw ServiceConfigurationError(
            "audit.trail",
            "\(trail) is missing, and \(remains.joined(separator: ", ")) of it is there. Put the trail back from a backup, "
              + "or move these files away to begin another trail.")
        }
      }
      guard exists || (hasFile && !ServerSettings.isURL(trail)) || Self.isThere(keyFile) else { return }
      do {
        // Only opening the trail shows whether this is its key: the key may have been replaced since the trail was
        // created.
        _ = try signer(named: exists ? try verifier().name : origin)
      } catch {
        throw ServiceConfigurationError("audit.files", "\(error)")
      }
    }

    /// Opens the trail; creates it, with a new key, if it is missing.
    ///
    /// If several servers start at once in one folder, one of them creates it.
    ///
    /// - Throws: `AuditError`, `StorageError`, `ServiceConfigurationError`, or an error of a file.
    func open(options: AuditLog.Options) throws -> AuditLog {
      guard !exists else { return try openExisting(options) }
      let lock = try lock()
      defer { withExtendedLifetime(lock) {} }
      guard !exists else { return try openExisting(options) }
      return try create(options)
    }

    private func lock() throws -> File {
      do throws(SystemError) {
        let lock = try File("\(files).lock", .updating)
        if try lock.lock(within: Self.creationTimeout) { return lock }
      } catch {
        throw ServiceConfigurationError("audit.files", "\(files).lock cannot be locked: \(error.reason).")
      }
      throw ServiceConfigurationError(
        "audit.files", "Another process has held \(files).lock for \(Self.creationTimeout).")
    }

    private func openExisting(_ options: AuditLog.Options) throws -> AuditLog {
      let verifier = try verifier()
      let signer = try signer(named: verifier.name)
      return try AuditLog.open(
        try storage(mayCreate: false), verifier: verifier, signer: signer, checkpoints: try checkpoints(),
        options: options)
    }

    private func verifier() throws -> NoteVerifierKey {
      let text = String(decoding: try FileStore.read(publicKeyFile), as: UTF8.self)
      return try NoteVerifierKey(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Creates the trail, or completes its creation if that was interrupted.
    private func create(_ options: AuditLog.Options) throws -> AuditLog {
      let signer: NoteSignerKey
      if Self.isThere(keyFile) {
        signer = try self.signer(named: origin)
      } else {
        signer = try NoteSignerKey.generate(name: origin)
        try FileStore.replace(keyFile, mode: 0o600, contents: Array(signer.pem().utf8))
      }
      let log: AuditLog
      do {
        log = try AuditLog.create(
          in: try storage(mayCreate: true), configuration: TrailConfiguration(origin: origin), signer: signer,
          checkpoints: try checkpoints(), options: options)
      } catch let error as AuditError where error.code == .alreadyExists {
        // The creation was interrupted before the public key was written.
        log = try AuditLog.open(
          try storage(mayCreate: false), verifier: signer.verifierKey, signer: signer,
          checkpoints: try checkpoints(),
          options: options)
      }
      try FileStore.replace(
        publicKeyFile, mode: 0o644, contents: Array((signer.verifierKey.text + "\n").utf8))
      return log
    }

    private func checkpoints() throws -> any CheckpointStore {
      guard ServerSettings.isURL(checkpoint) else { return FileCheckpointStore(path: checkpoint) }
      #if PostgreSQL
        return try PostgreSQLCheckpointStore(checkpoint, name: origin)
      #else
        throw Self.noPostgreSQL("audit.checkpoint")
      #endif
    }

    #if !PostgreSQL
      private static func noPostgreSQL(_ setting: String) -> ServiceConfigurationError {
        ServiceConfigurationError(
          setting, "This build has no PostgreSQL: build it with the trait PostgreSQL.")
      }
    #endif

    private func signer(named name: String) throws -> NoteSignerKey {
      try NoteSignerKey(name: name, pem: String(decoding: try FileStore.read(keyFile), as: UTF8.self))
    }

    private func storage(mayCreate: Bool) throws -> any TrailStorage {
      guard ServerSettings.isURL(trail) else {
        return mayCreate && !Self.isThere(trail)
          ? try SQLiteStorage(creatingAt: trail) : try SQLiteStorage(openingAt: trail)
      }
      #if PostgreSQL
        // Requests wait for the lock.
        let options = PostgreSQLOptions(lockTimeout: .seconds(10))
        do throws(StorageError) {
          return try PostgreSQLStorage(openingAt: trail, options: options)
        } catch {
          guard mayCreate, error.code == .notFound else { throw error }
        }
        return try PostgreSQLStorage(creatingAt: trail, options: options)
      #else
        throw Self.noPostgreSQL("audit.trail")
      #endif
    }
  }
#endif
