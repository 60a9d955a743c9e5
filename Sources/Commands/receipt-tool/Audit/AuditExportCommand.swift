// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import CommandOutput
internal import ReceiptCrypto
import TransparencyLog

extension AuditExportCommand {
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

extension AuditImportCommand {
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
