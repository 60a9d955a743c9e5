// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
internal import ReceiptCrypto
import TransparencyLog

struct AuditExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a trail as static files for any web server (C2SP tlog-tiles), or as a table.",
    discussion: """
      Writes everything that the newest checkpoint covers: checkpoint, tile/… and
      tile/entries/…, the keys that took over (keys) and the texts of the policies
      that entries name (policies). Files of an earlier export are compared with the
      trail, and rewritten only if they differ.

      Receipts and customers are only written with --with-erasable: to erasable/…,
      for audit import. Never put that folder on a web server. An export removes
      obsolete files of earlier ones: without --with-erasable the folder erasable,
      with it the parts that were erased since. Export again after audit erase.
      Partial tiles are removed when the full one exists.

      A folder with the export of another log, with foreign files in tile or
      erasable, or with files of yours named keys or policies, is refused and not
      changed. Other files in the folder are not touched.

      With --table all entries are written to one file instead, one row each, with
      the names of audit show --json: CSV (RFC 4180), JSON Lines, or a SQLite
      database with the table entries. Each entry is verified. The file is written
      atomically.

      EXAMPLES:
        receipt-tool audit export verdicts.audit /var/www/verdicts
        receipt-tool audit fsck /var/www/verdicts --key verdicts.audit.pub
        receipt-tool audit export verdicts.audit --table verdicts.sqlite

      EXIT CODES:
        0 written; 1 the trail is not intact, or older than the export in the
        folder; 2 another export is writing into the folder, or a part was erased
        after the newest checkpoint: publish one; 64 wrong command line;
        66 the trail cannot be opened; 73 the folder has something else, or the file
        is there; 74 a file or the output cannot be written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption

  @Argument("The folder; it is created if it does not exist.", value: "folder") var folder: String?

  @Flag("with-erasable", "Also write receipts and customers: for moving the trail.") var withErasable = false

  @Option("table", "Write a table into this file instead.", value: "FILE.csv|.jsonl|.sqlite")
  var table: String?

  @Flag("overwrite", "Replace an existing file of the table.") var overwrite = false

  func validate() throws {
    guard (folder == nil) != (table == nil) else { throw ValidationError("Give a folder or --table FILE.") }
    try refuse(["--with-erasable": withErasable], unless: table == nil, "has no effect with --table")
    try refuse(["--overwrite": overwrite], unless: table != nil, "needs --table")
    guard table.map({ TableFile(path: $0) != nil }) ?? true else {
      throw ValidationError("The name of --table ends with .csv, .jsonl or .sqlite.")
    }
  }

  func run() throws {
    let location = try options.readOnlyLocation()
    let (size, root) = try location.work("wrote") { progress in
      if let file = table.flatMap(TableFile.init) {
        return try options.read { view in
          try file.write(view, overwriting: overwrite, progress: progress)
          return (view.size, view.root)
        }
      }
      let folder = folder ?? ""
      for name in ["checkpoint", "keys", "policies"] {
        try CommandInputs.refuse(asOutput: "\(folder)/\(name)")
      }
      let written = try options.readLog { log in
        try log.export(to: TileDirectory(path: folder), includingErasableParts: withErasable) {
          progress.show($0, of: $1)
        }
      }
      return (written.checkpoint.size, written.checkpoint.root)
    }
    try output.write(
      Output.AuditExport(folder: folder, table: table, treeSize: size, rootHash: root.hexadecimal),
      "\(folder ?? table ?? "")  \(size) entries, root \(root.base64)")
  }
}

struct AuditImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Create a trail from an export with erasable parts.",
    discussion: """
      Everything in the export is checked first: a part that an entry says was
      erased is refused. The new trail has the root of the export's checkpoint. The private key of the exported trail is needed. If the store of
      the last checkpoint has one, the export must not be older: it would make a
      second history.

      EXAMPLES:
        receipt-tool audit export verdicts.audit folder --with-erasable
        receipt-tool audit import restored.audit folder \\
          --private-key verdicts.audit.key

      EXIT CODES:
        0 imported; 1 the export is not intact, lacks erasable parts or is too old;
        64 wrong command line; 66 the key or folder cannot be used; 73 there is a
        trail already; 74 it could not be stored, or the output not written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption

  @Argument("The folder that audit export --with-erasable wrote.", value: "folder") var folder: String

  @Option(
    "once",
    "The period in which the same verdict on the same receipt under the same policy is recorded only once.",
    value: "forever|SECONDS")
  var once = "forever"

  func validate() throws { try AuditInitCommand.validateOnce(once) }

  func run() throws {
    let location = options.location
    let progress = Progress("stored")
    do {
      let origin = try origin()
      guard let signer = try location.signer(named: origin) else {
        throw ToolExit.failure(
          .unreadableInput,
          "the private key of \(origin) is missing at \(location.privateKeyFile); name it with --private-key")
      }
      let checkpoints = try location.checkpoints(of: origin)
      let configuration = try TrailConfiguration(origin: origin, once: AuditInitCommand.window(once))
      let checkpoint = try importTrail(location, configuration, signer, checkpoints, progress)
      progress.finish()
      if !NewFile.exists(location.publicKey) {
        try NewFile.write(Array((signer.verifierKey.text + "\n").utf8), to: location.publicKey)
      }
      let (size, root) = (checkpoint.checkpoint.size, checkpoint.checkpoint.root)
      try output.write(
        Output.AuditImport(trail: location.name, treeSize: size, rootHash: root.hexadecimal),
        "\(location.name)  \(size) entries, root \(root.base64)")
    } catch {
      progress.clear()
      throw AuditInitCommand.failure(error, location)
    }
  }

  private func importTrail(
    _ location: TrailLocation, _ configuration: TrailConfiguration, _ signer: NoteSignerKey,
    _ checkpoints: any CheckpointStore, _ progress: Progress
  ) throws -> VerifiedCheckpoint {
    let storage = try location.storage(creating: true)
    defer { try? storage.close() }
    do {
      return try TrailImport(
        directory: TileDirectory(path: folder), configuration: configuration, signer: signer,
        checkpoints: checkpoints
      ).run(into: storage) { progress.show($0, of: $1) }
    } catch {
      // Remove the incomplete trail. This command has created the file, so it cannot contain anything else.
      if !location.isServer {
        try? storage.close()
        for suffix in ["", "-wal", "-shm"] { NewFile.remove(location.trail + suffix) }
      }
      throw error
    }
  }

  /// The name in the export's checkpoint; the signature is verified later.
  private func origin() throws -> String {
    let bytes = try InputFile.contents(of: "\(folder)/checkpoint", limit: 1 << 20)
    return try ToolExit.reading(orElse: "\(folder)/checkpoint is no checkpoint") {
      try SignedCheckpoint(parsing: bytes).unverifiedCheckpoint.origin
    }
  }
}
