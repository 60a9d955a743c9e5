// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import AuditTrailSQLite

extension AuditBackupCommand {
  func run() throws {
    let location = TrailLocation(trail, privateKey: nil, publicKey: nil, checkpoint: nil)
    guard !location.isServer else {
      throw ToolExit.failure(
        .usage,
        "\(location.name): a trail on a server is copied with pg_dump --schema=SCHEMA --exclude-table-data=SCHEMA.keys: "
          + "the copy must not have the keys of erasable parts")
    }
    if let taken = [destination, keys].compactMap(\.self).first(where: NewFile.exists) {
      throw ToolExit.failure(.cannotCreate, "\(taken) is there already")
    }
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
