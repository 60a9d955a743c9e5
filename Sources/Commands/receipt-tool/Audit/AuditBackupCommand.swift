// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import AuditTrailSQLite

struct AuditBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy a trail that is in use, without the keys of its erasable parts.",
    discussion: """
      The copy is the current state of the trail, complete and on disk when the
      command ends. It holds no keys of erasable parts: receipts and customers
      cannot be read from it, and a later erasure in the trail also applies to it.
      Entries, proofs and searches by transaction work in it; nothing can be
      appended. TRAIL.key and TRAIL.checkpoint are not copied: store them
      separately.

      With --keys FILE the keys are written to a separate file, for audit
      restore-keys. Copy and keys together restore parts that are erased later:
      store the file separately from the copy, and only for as long as that is
      allowed.

      Copy a trail on a PostgreSQL server with the server's own tools, without the
      rows of the table keys:
        pg_dump --schema=SCHEMA --exclude-table-data=SCHEMA.keys DATABASE

      EXAMPLES:
        receipt-tool audit backup verdicts.audit /backup/2026-01-31.audit
        receipt-tool audit backup verdicts.audit /backup/today.audit \\
          --keys /vault/today.keys
        receipt-tool audit fsck /backup/today.audit --without-keys \\
          --key verdicts.audit.pub --checkpoint verdicts.audit.checkpoint

      EXIT CODES:
        0 copied; 1 the trail is damaged; 2 not now, try again; 64 wrong command
        line, or a trail on a server; 66 the trail cannot be opened; 73 a file is
        there already; 74 it could not be stored.
      """)

  @Argument("The trail: a path.", value: "trail") var trail: String

  @Argument("The copy: a path that does not exist.", value: "destination") var destination: String

  @Option("keys", "Also write the keys of erasable parts, to a new file.", value: "FILE") var keys: String?

  @OptionGroup var output: JSONOption

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

struct AuditRestoreKeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore-keys",
    abstract: "Put the keys of erasable parts into a copy that was made without them.",
    discussion: """
      For a copy by audit backup, or by pg_dump without the rows of the table keys:
      its receipts and customers can then be read again, including those that were
      erased in the trail since, and it can be written to. A copy that is older than
      the last checkpoint still refuses to open. If the copy has keys already, the
      file has those of another trail, or they would bring back what an entry of the
      copy says was erased, nothing is changed.

      EXAMPLES:
        receipt-tool audit restore-keys restored.audit /vault/today.keys

      EXIT CODES:
        0 restored; 64 wrong command line; 66 the trail or the file cannot be used,
        or they do not belong together; 73 the trail has keys; 74 it could not be
        stored.
      """)

  @Argument("The copy: a path, or postgresql://….", value: "trail") var trail: String

  @Argument("The keys, as audit backup --keys wrote them.", value: "file") var file: String

  @OptionGroup var output: JSONOption

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
