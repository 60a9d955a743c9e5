// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
internal import ReceiptCrypto
import TransparencyLog

struct AuditMigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Move a trail to another storage: from a file to PostgreSQL, or back.",
    discussion: """
      Copies entries, erasable parts and configuration, and compares the copy with
      the original: it has the same root. Writes are blocked meanwhile. Private and
      public key are also copied if they are files beside the trail, unless the
      target has its own. An interrupted migration is resumed when it is started
      again; what was erased in the meantime is then erased in the target too. An
      unfinished target holds what was copied: end the migration, or remove it.

      Afterwards only the target may be written to; remove the original, or make
      sure that nothing writes to it.

      EXAMPLES:
        receipt-tool audit migrate verdicts.audit \\
          "postgresql://auditor@db.example.com/receipts?schema=verdicts"
        receipt-tool audit migrate verdicts.audit /mnt/larger/verdicts.audit

      EXIT CODES:
        0 moved; 1 the trail is not intact; 2 not now, try again; 64 wrong command
        line; 66 the trail cannot be opened; 73 the target is taken, or is the trail
        itself; 74 it could not be stored, or the output not written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption

  @Argument("The new storage: a path, or postgresql://….", value: "target") var target: String

  @Option(
    "target-checkpoint",
    "The store of the last checkpoint from now on: a file, or postgresql://…. Default: TARGET.checkpoint.",
    value: "FILE|URL")
  var targetCheckpoint: String?

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
