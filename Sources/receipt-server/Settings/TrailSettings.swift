// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import AuditTrailPostgreSQL
  import AuditTrailSQLite
  import Foundation
  import ReceiptService
  import ReceiptSigning
  import TransparencyLog

  /// Where the audit trail is. `receipt-tool audit` knows the same files: `TRAIL.key`, `TRAIL.pub` and `TRAIL.checkpoint`.
  struct TrailSettings {
    /// A path, or a `postgresql://` URL.
    let trail: String
    /// The prefix of the names of the other files.
    let files: String
    let origin: String

    init(_ trail: String, files: String?, origin: String?) throws {
      guard let files else {
        throw ServiceConfigurationError(
          "audit.files",
          "Of a trail in PostgreSQL, name the prefix of the paths of its key and its last checkpoint, such as "
            + "/var/lib/receipt-server/audit.")
      }
      self.trail = trail
      self.files = files
      self.origin = origin ?? "receipt-server/\(URL(filePath: files).lastPathComponent)"
    }

    /// Opens the trail; creates it, with a new key, where there is none.
    ///
    /// - Throws: `AuditError`, `StorageError`, or an error of a file.
    func open(options: AuditLog.Options) throws -> AuditLog {
      let keyFile = "\(files).key"
      let publicKeyFile = "\(files).pub"
      let checkpoints = FileCheckpointStore(path: "\(files).checkpoint")
      guard FileManager.default.fileExists(atPath: publicKeyFile) else {
        let signer: NoteSignerKey
        if FileManager.default.fileExists(atPath: keyFile) {
          signer = try self.signer(keyFile, named: origin)
        } else {
          signer = try NoteSignerKey.generate(name: origin)
          try FileStore.replace(keyFile, mode: 0o600, contents: Array(signer.pem().utf8))
        }
        let log: AuditLog
        do {
          log = try AuditLog.create(
            in: try storage(), configuration: TrailConfiguration(origin: origin), signer: signer,
            checkpoints: checkpoints, options: options)
        } catch let error as AuditError where error.code == .alreadyExists {
          // Another server made it, or the creation ended before the public key was written.
          log = try AuditLog.open(
            try storage(), verifier: signer.verifierKey, signer: signer, checkpoints: checkpoints,
            options: options)
        }
        try FileStore.replace(
          publicKeyFile, mode: 0o644, contents: Array((signer.verifierKey.text + "\n").utf8))
        return log
      }
      let text = String(decoding: try FileStore.read(publicKeyFile), as: UTF8.self)
      let verifier = try NoteVerifierKey(text.trimmingCharacters(in: .whitespacesAndNewlines))
      return try AuditLog.open(
        try storage(), verifier: verifier, signer: try signer(keyFile, named: verifier.name),
        checkpoints: checkpoints, options: options)
    }

    private func signer(_ file: String, named name: String) throws -> NoteSignerKey {
      try NoteSignerKey(name: name, pem: String(decoding: try FileStore.read(file), as: UTF8.self))
    }

    private func storage() throws -> any TrailStorage {
      if ServerSettings.isURL(trail) {
        #if PostgreSQL
          do {
            return try PostgreSQLStorage(openingAt: trail)
          } catch  where error.code == .notFound {
            return try PostgreSQLStorage(creatingAt: trail)
          }
        #else
          throw ServiceConfigurationError(
            "audit.trail", "This build has no PostgreSQL: build it with the trait PostgreSQL.")
        #endif
      }
      return FileManager.default.fileExists(atPath: trail)
        ? try SQLiteStorage(openingAt: trail) : try SQLiteStorage(creatingAt: trail)
    }
  }
#endif
