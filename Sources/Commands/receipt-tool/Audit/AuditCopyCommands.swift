// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import AuditTrailSQLite
import CommandOutput
import ReceiptCrypto
import TransparencyLog

extension AuditBackupCommand {
  func run() throws {
    let location = TrailLocation(trail, privateKey: nil, publicKey: nil, checkpoint: nil)
    guard !location.isServer else {
      throw ToolExit.failure(
        .usage,
        "\(location.name): a trail on a server is copied with pg_dump --schema=SCHEMA --exclude-table-data=SCHEMA.keys: "
          + "the copy must not have the keys of erasable parts")
    }
    try NewFile.requireAbsent(destination, keys)
    try copy(location)
    try output.write(
      Output.AuditBackup(trail: location.name, copy: destination, keysFile: keys),
      "\(destination)  copied without keys of erasable parts" + (keys.map { "; they are in \($0)" } ?? ""))
  }

  private func copy(_ location: TrailLocation) throws {
    do {
      let storage = try location.storageForReading()
      defer { try? storage.close() }
      guard let file = storage as? SQLiteStorage else {
        throw StorageError(.unsupported, at: location.name, "Only a trail in a file is copied.")
      }
      let left = try file.backUp(to: destination)
      if let keys {
        guard let left else {
          throw AuditError(.keysMissing, "The copy is complete, but the trail has no keys to write.")
        }
        try NewFile.write(left.encoded, to: keys, mode: 0o600)
      }
    } catch { throw ToolExit.failure(for: error, location.name) }
  }
}

extension AuditRestoreKeysCommand {
  func run() throws {
    let location = TrailLocation(trail, privateKey: nil, publicKey: nil, checkpoint: nil)
    do {
      let keys = try ErasureKeyBackup(parsing: InputFile.contents(of: file, limit: 1 << 30))
      let storage = try location.storage(creating: false)
      defer { try? storage.close() }
      try keys.restore(to: storage)
    } catch { throw ToolExit.failure(for: error, location.name) }
    try output.write(
      Output.AuditRestoredKeys(trail: location.name, hasKeys: true),
      "\(location.name)  the keys of erasable parts were restored")
  }
}

extension AuditMigrateCommand {
  func run() throws {
    let source = options.location
    let target = TrailLocation(target, privateKey: nil, publicKey: nil, checkpoint: targetCheckpoint)
    let (size, root) = try source.work("copied", on: "\(source.name) to \(target.name)") { progress in
      let verifier = try source.verifierKey()
      let signer = try source.requiredSigner()
      let from = try source.storage(creating: false)
      defer { try? from.close() }
      let into = try target.storageOrNew()
      defer { try? into.close() }
      let migration = TrailMigration(
        from: from, checkpoints: try source.checkpoints(of: verifier.name), signer: signer)
      let checkpoint = try migration.run(
        to: into, checkpoints: try target.checkpoints(of: verifier.name)
      ) { progress.show($0, of: $1) }
      try copyKeys(source, target, verifier)
      return (checkpoint.checkpoint.size, checkpoint.checkpoint.root)
    }
    try output.write(
      Output.AuditMigration(trail: target.name, treeSize: size, rootHash: root.hexadecimal),
      "\(target.name)  \(size) entries, root \(root.base64)",
      "from now on write to this one, and no longer to \(source.name)")
  }

  private func copyKeys(_ source: TrailLocation, _ target: TrailLocation, _ verifier: NoteVerifierKey) throws
  {
    if !NewFile.exists(target.publicKey) {
      try NewFile.write(Array((verifier.text + "\n").utf8), to: target.publicKey)
    }
    guard NewFile.exists(source.privateKeyFile), !NewFile.exists(target.privateKeyFile) else { return }
    let key = try InputFile.contents(of: source.privateKeyFile, limit: 1 << 16)
    try NewFile.write(key, to: target.privateKeyFile, mode: 0o600)
  }
}
