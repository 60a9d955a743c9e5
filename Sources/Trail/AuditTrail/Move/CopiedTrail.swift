// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

extension PublishedCheckpoints {
  /// Reads the checkpoint, which must be there, as ``load(refresh:)``.
  func require(refresh: () throws -> TrailHead) throws -> VerifiedCheckpoint {
    guard let published = try load(refresh: refresh) else { throw Self.missing }
    return published
  }
}

extension TrailKeys {
  /// Compares the proofs of the entries that replaced the key with these entries. Throws ``AuditError/Code/tampered``
  /// if they are not the proofs of the entries; the errors of `root`.
  func require(
    _ proofs: [LogProof], of entries: [UInt64], root: (UInt64) throws -> TreeHash
  ) throws {
    let fault = try KeyChain.fault(
      in: proofs, of: entries, trusting: chain.first, root: root)
    if let fault { throw AuditError(.tampered, at: "notes", fault) }
  }
}

extension CopiedEntry {
  /// Checks that the erasable part is the one that the entry commits to.
  func check(_ commitment: SHA256Digest?, at index: UInt64) throws(AuditError) {
    guard let erasable else { return }
    guard let commitment, SHA256Digest(of: erasable) == commitment else {
      throw AuditError(
        .tampered, at: "entry \(index)", "Its erasable part is not the one that the entry commits to.")
    }
  }
}

extension TrailState {
  /// Adopts entries of another copy of the same trail byte for byte, and seals their erasable parts anew. The keys of
  /// erased parts are forgotten here too. When all entries are adopted, keys and erasures must agree:
  /// ``erasureAgreement(in:)``. Throws ``AuditError/Code/tampered`` if they cannot be entries of a trail.
  mutating func adopt(_ copied: [CopiedEntry], in writer: any StorageWriter) throws {
    let start = head.size
    var erased: [UInt64] = []
    var rest = copied[...]
    var cipher = AES256GCM()
    let erasureKeys = try keysForWriting()
    noteWriter()
    while !rest.isEmpty {
      let bundle = rest.prefix(BundleRow.entryCount - tail.count)
      rest = rest.dropFirst(bundle.count)
      var encoded = EncodedEntries(
        reserving: bundle.count, erasableByteCount: bundle.reduce(0) { $0 + ($1.erasable?.count ?? 0) },
        from: head.size, erasureKeys)
      var lastTime = head.lastTime
      for copy in bundle {
        let position = head.size + UInt64(encoded.count)
        let keys = try Self.keys(of: copy.entry, at: position)
        guard keys.time >= lastTime else {
          throw AuditError(
            .tampered, at: "entry \(position)", "The entry is dated before the one in front of it.")
        }
        lastTime = keys.time
        try copy.check(keys.commitment, at: position)
        if keys.commitment != nil, copy.erasable == nil { erased.append(position) }
        let fingerprints: EntryFingerprints
        do {
          let erasable = copy.erasable ?? []
          fingerprints = try EntryFingerprints(
            copy.entry.span, erasable: erasable.span, keys, context.keys.fingerprints)
        } catch {
          throw AuditError(.tampered, at: "entry \(position)", "The entry cannot be read: \(error)")
        }
        try encoded.append(
          copy.entry, time: keys.time, erasable: copy.erasable, with: &cipher, fingerprints)
      }
      try enter(encoded, after: start, in: writer)
    }
    if !erased.isEmpty { try ErasureKeys.forget(erased, in: writer) }
    try writeTail(after: start, in: writer)
    head.root = frontier.root
    try writeHead(in: writer)
  }
}
