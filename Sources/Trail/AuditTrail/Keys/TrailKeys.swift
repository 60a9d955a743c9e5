// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import Synchronization
internal import TransparencyLog

/// The keys of an opened trail, which follow it if another process replaces its key.
final class TrailKeys: Sendable {
  let configuration: TrailConfiguration
  let fingerprints: IndexKey
  private let state: Mutex<State>

  private struct State {
    var chain: KeyChain
    var signer: NoteSignerKey?
  }

  var origin: String { configuration.origin }
  var chain: KeyChain { state.withLock { $0.chain } }
  var canSign: Bool { state.withLock { $0.signer != nil } }

  private init(
    _ configuration: TrailConfiguration, _ chain: KeyChain, _ signer: NoteSignerKey?,
    fingerprintBits: Int = IndexKey.fingerprintBits
  ) throws {
    self.configuration = configuration
    guard let fingerprints = IndexKey(configuration.indexKey, fingerprintBits: fingerprintBits) else {
      throw AuditError(
        .notATrail, at: "configuration", "The configuration is not one that this version writes.")
    }
    self.fingerprints = fingerprints
    state = Mutex(State(chain: chain, signer: signer))
  }

  convenience init(_ configuration: TrailConfiguration, signer: NoteSignerKey) throws {
    try self.init(configuration, KeyChain(signer.verifierKey), signer)
  }

  /// Reads the keys of an existing trail, which follow from the first one; the signer is the private key of the last.
  convenience init(
    reading reader: any StorageReader, trusting first: NoteVerifierKey, signer: NoteSignerKey? = nil,
    fingerprintBits: Int = IndexKey.fingerprintBits
  ) throws {
    let chain = try KeyChain(first, try Self.storedProofs(reader))
    if let signer, signer.verifierKey != chain.current {
      let replaced = zip(chain.keys, chain.successions).first { $0.0 == signer.verifierKey }
      throw replaced.map { Self.replaced(at: $1.index) }
        ?? AuditError(.wrongKey, at: "key", "The private key and the public key do not belong together.")
    }
    try self.init(try Self.configuration(in: reader, chain), chain, signer, fingerprintBits: fingerprintBits)
  }

  private static func configuration(in reader: any StorageReader, _ chain: KeyChain) throws
    -> TrailConfiguration
  {
    guard let bytes = try reader.value(.notes, TrailNotes.configuration) else {
      throw AuditError(
        .notATrail, at: "configuration", "There is no configuration; this is not an audit trail.")
    }
    let note = try Self.note(bytes, by: chain) { error in
      AuditError(
        .wrongKey, at: "configuration",
        "The configuration is not signed by this key: \(error). Give the key that the trail was created with."
      )
    }
    return try TrailConfiguration(text: String(decoding: note.text, as: UTF8.self))
  }

  /// Reads and verifies a stored note; throws the result of `refusal` if no key of the chain signed it.
  private static func note(
    _ bytes: [UInt8], by chain: KeyChain, orThrow refusal: (any Error) -> AuditError
  ) throws(AuditError) -> VerifiedNote {
    do { return try SignedNote(parsing: bytes).verified(by: chain.keys) } catch {
      throw error.isFailureToCheckNote ? AuditError(error) : refusal(error)
    }
  }

  /// Returns the stored proofs of the entries that replaced keys, unverified.
  static func storedProofs(_ reader: any StorageReader) throws -> [LogProof] {
    var proofs: [LogProof] = []
    while proofs.count < KeyChain.maximumCount,
      let row = try reader.value(.notes, TrailNotes.firstSuccession + Int64(proofs.count)),
      let proof = try? LogProof(parsing: row)
    {
      proofs.append(proof)
    }
    return proofs
  }

  /// Stores the proofs of the entries that replaced keys, for a trail that is copied.
  static func store(_ proofs: [LogProof], in writer: any StorageWriter) throws {
    for (number, proof) in proofs.enumerated() {
      try writer.put(.notes, TrailNotes.firstSuccession + Int64(number), proof.encoded)
    }
  }

  private static func replaced(at index: UInt64) -> AuditError {
    AuditError(
      .wrongKey, at: "key",
      "The trail's key was replaced by entry \(index); open the trail with the private key that took over.")
  }

  func head(in reader: any StorageReader) throws -> TrailHead { try stored(in: reader).head }

  /// Returns the stored head with its bytes, or `known` itself if the bytes are the same.
  func stored(in reader: any StorageReader, known: SignedHead? = nil) throws -> SignedHead {
    guard let row = try reader.value(.head, 0) else {
      throw AuditError(
        .notATrail, at: "head", "There is no head; this is not an audit trail, or its head was removed.")
    }
    if let known, known.bytes == row { return known }
    do { return try verified(row, by: chain) } catch {
      // Another process may have replaced the key.
      let now = try KeyChain(chain.first, try Self.storedProofs(reader))
      guard now.successions.starts(with: chain.successions), now != chain else { throw error }
      let head = try verified(row, by: now)
      state.withLock { $0.chain = now }
      return head
    }
  }

  private func verified(_ row: [UInt8], by chain: KeyChain) throws -> SignedHead {
    let note = try Self.note(row, by: chain) { error in
      AuditError(
        .tampered, at: "head",
        "The head is not signed by the trail's key: \(error) Restore the trail from a backup.")
    }
    guard let head = TrailHead(text: String(decoding: note.text, as: UTF8.self), configuration) else {
      throw AuditError(
        .tampered, at: "head", "The head is not of this format; restore the trail from a backup.")
    }
    guard note.signers.contains(where: { chain.isTrusted($0, forSize: head.size) }) else {
      throw AuditError(
        .tampered, at: "head",
        "The head is signed by a key that was replaced before. Restore the trail from a backup.")
    }
    return SignedHead(head: head, bytes: row)
  }

  /// Signs and stores a head, after the head before it was read in the same transaction.
  @discardableResult
  func write(_ head: TrailHead, in writer: any StorageWriter) throws -> SignedHead {
    try write(head, by: signer(), in: writer)
  }

  private func write(
    _ head: TrailHead, by signer: NoteSignerKey, in writer: any StorageWriter
  ) throws -> SignedHead {
    let note = try SignedNote.sign(Array(head.text(configuration).utf8), by: [signer])
    let signed = SignedHead(head: head, bytes: note.encoded)
    try writer.put(.head, 0, signed.bytes)
    return signed
  }

  /// Returns the private key that signs now; throws if the trail was opened without it, or it was replaced.
  func signer() throws(AuditError) -> NoteSignerKey {
    let (chain, signer) = state.withLock { ($0.chain, $0.signer) }
    guard let signer else {
      throw AuditError(
        .readOnly, "The trail was opened without its private key; open it with the key to write.")
    }
    if let last = chain.successions.last, last.key != signer.verifierKey {
      throw Self.replaced(at: last.index)
    }
    return signer
  }

  /// Stores that a key took over, in the transaction that entered this as the last entry, and signs the head with it.
  func store(
    _ new: NoteSignerKey, _ succession: KeySuccession, _ head: TrailHead, in writer: any StorageWriter
  ) throws -> SignedHead {
    let stored = try Self.storedProofs(writer)
    guard stored.count < KeyChain.maximumCount else {
      throw AuditError(.invalidRecord, at: "key", "The key was replaced too often; begin another trail.")
    }
    try writer.put(.notes, TrailNotes.firstSuccession + Int64(stored.count), succession.proof.encoded)
    // A reader that trusts only this key must be able to read the trail.
    let text = Array(configuration.text.utf8)
    if let bytes = try writer.value(.notes, TrailNotes.configuration) {
      let note = try SignedNote(parsing: bytes).adding(SignedNote.sign(text, by: [new]).signatures)
      try writer.put(.notes, TrailNotes.configuration, note.encoded)
    }
    return try write(head, by: new, in: writer)
  }

  func adopt(_ new: NoteSignerKey, _ succession: KeySuccession) {
    state.withLock { state in
      // A reader may have found the succession already.
      if state.chain.current != succession.key { state.chain.append(succession) }
      state.signer = new
    }
  }
}
