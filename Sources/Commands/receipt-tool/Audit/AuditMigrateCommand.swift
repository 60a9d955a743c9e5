// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
internal import ReceiptCrypto
import TransparencyLog

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
