// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
internal import ReceiptCrypto
import TransparencyLog

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
          "the private key of \(origin) is missing at \(location.privateKeyFile); name it with "
            + "--private-key")
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
      return try AuditLog.importTrail(
        from: TileDirectory(path: folder), into: storage, configuration: configuration, signer: signer,
        checkpoints: checkpoints
      ) { progress.show($0, of: $1) }
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
