// SPDX-License-Identifier: Apache-2.0

package import TransparencyLog

extension TrailImport {
  /// Checks the export, stores it in an empty storage, and blocks meanwhile. Returns the checkpoint of the export, which
  /// the trail adopts.
  @discardableResult
  package func run(
    into storage: any TrailStorage, progress: (_ stored: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws -> VerifiedCheckpoint {
    let checkpoint = try checkedExport()
    let size = checkpoint.checkpoint.size
    let proofs = try directory.successions()
    let policies = StoredPolicies.texts(in: try directory.read(TileDirectory.policiesName) ?? [])
    let keys = try TrailKeys(configuration, signer: signer)
    let context = TrailContext(keys: keys)
    let note = try SignedNote.sign(Array(configuration.text.utf8), by: [signer])
    var state = try storage.write { writer in
      guard try writer.value(.head, 0) == nil, try writer.value(.notes, TrailNotes.configuration) == nil
      else {
        throw AuditError(.alreadyExists, "There is a trail already; choose another place.")
      }
      try writer.put(.notes, TrailNotes.configuration, note.encoded)
      try TrailKeys.store(proofs, in: writer)
      try ErasureKeys.create(in: writer)
      var head = TrailHead.empty
      try StoredPolicies.keep(policies, &head, in: writer)
      try keys.write(head, in: writer)
      return try TrailState(reading: writer, context)
    }
    for bundle in TileCoordinates.all(level: 0, inTreeOfSize: size) {
      let entries = try entries(of: bundle)
      try storage.write { writer in
        try state.flushIndex(in: writer)
        try state.adopt(entries, in: writer)
      }
      progress(min((bundle.number + 1) << 8, size), size)
    }
    guard state.head.size == size, state.head.root == checkpoint.checkpoint.root else {
      throw AuditError(
        .tampered, at: "entries below \(size)", "What was stored does not have the export's root.")
    }
    try storage.read { reader in
      var agreement = try state.erasureAgreement(in: reader)
      try agreement.require()
    }
    try storage.write { try $0.put(.notes, TrailNotes.checkpoint, checkpoint.signed.encoded) }
    let old = try checkpoints.load()
    guard try old == checkpoint.signed.encoded || checkpoints.replace(old, with: checkpoint.signed.encoded)
    else {
      throw AuditError(.forked, at: "checkpoint", "Another process published a checkpoint during the import.")
    }
    return checkpoint
  }

  private func checkedExport() throws -> VerifiedCheckpoint {
    guard signer.name == configuration.origin else {
      throw AuditError(
        .wrongKey, at: "key", "The key is named \(signer.name), the trail \(configuration.origin).")
    }
    guard let bytes = try directory.read("checkpoint") else {
      throw AuditError(
        .notFound, at: directory.path, "There is no checkpoint; this is not an export of a trail.")
    }
    let checkpoint: VerifiedCheckpoint
    var last: VerifiedCheckpoint?
    do {
      checkpoint = try SignedCheckpoint(parsing: bytes).verified(by: signer.verifierKey)
      last = try checkpoints.load().map { try SignedCheckpoint(parsing: $0).verified(by: signer.verifierKey) }
    } catch let error as StorageError {
      throw error
    } catch  where error.isFailureToCheckNote {
      throw AuditError(error)
    } catch {
      throw AuditError(.wrongKey, at: "checkpoint", "A checkpoint is not signed by this key: \(error)")
    }
    if let last, last.checkpoint.size > checkpoint.checkpoint.size {
      throw AuditError(
        .rolledBack, at: "entry \(checkpoint.checkpoint.size)",
        "The export has \(checkpoint.checkpoint.size) entries, but a checkpoint of \(last.checkpoint.size) was published."
      )
    }
    let checker = TileDirectoryChecker(directory: directory, verifier: signer.verifierKey)
    let report = try checker.check(continuing: last)
    if let fault = report.faults.first {
      throw AuditError(fault.code == .checkpoint ? .forked : .tampered, at: fault.place, fault.message)
    }
    return checkpoint
  }

  private func entries(of bundle: TileCoordinates) throws -> [CopiedEntry] {
    guard let bytes = try directory.read(bundle.entryBundlePath) else {
      throw AuditError(.tampered, at: bundle.entryBundlePath, "The entries are missing.")
    }
    let entries = try EntryBundle(parsing: bytes, width: bundle.width).entries
    let name = TileDirectory.erasableName(bundle)
    guard let parts = try directory.read(name) else {
      throw AuditError(
        .tampered, at: name,
        "The erasable parts are missing; export the trail with them, or restore it from a backup.")
    }
    let erasables = try TileDirectory.decode(erasables: parts, count: entries.count, at: name)
    return zip(entries, erasables).map {
      CopiedEntry(entry: $0, erasable: $1.isEmpty ? nil : $1)
    }
  }
}
