// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import TransparencyLog

/// The keys of a trail, in order: the trusted one, and those that took over by an entry that the key before signed.
///
/// A replaced key vouches for the entries up to that entry, and for nothing after it, no matter who holds it now. The
/// file of a chain consists of the proofs of these entries (C2SP tlog-proof), one after another.
package struct KeyChain: Sendable, Hashable {
  package let first: NoteVerifierKey
  package private(set) var successions: [KeySuccession] = []

  static let maximumCount = 1024

  package init(_ first: NoteVerifierKey) { self.first = first }

  /// Creates the chain of keys that follows from a trusted key: the first of the trail, or any later one.
  ///
  /// Every proof that the key in use has not signed is skipped. It throws if OpenSSL could not check a signature.
  package init(_ first: NoteVerifierKey, _ proofs: some Sequence<LogProof>) throws(NoteError) {
    self.first = first
    for proof in proofs {
      if let succession = try KeySuccession(proof, by: current) { successions.append(succession) }
    }
  }

  /// Creates the chain of keys that follows from a trusted key, from a file of proofs.
  package init(_ first: NoteVerifierKey, parsing file: [UInt8]) throws {
    try self.init(first, Self.proofs(in: file))
  }

  /// The key that signs now.
  package var current: NoteVerifierKey { successions.last?.key ?? first }

  package var keys: [NoteVerifierKey] { [first] + successions.map(\.key) }

  /// The file of the chain; empty for a chain of one key.
  package var encoded: [UInt8] { successions.flatMap(\.proof.encoded) }

  /// Returns `true` if a key's signature vouches for a tree of `size` entries.
  func isTrusted(_ key: NoteVerifierKey, forSize size: UInt64) -> Bool {
    if key == current { return true }
    return zip(keys, successions).contains { $0 == key && size <= $1.size }
  }

  /// Verifies a checkpoint with the key that signs now, or with a replaced key as far as it is trusted.
  package func verify(_ checkpoint: SignedCheckpoint) throws(NoteError) -> VerifiedCheckpoint {
    let refusal: NoteError
    do throws(NoteError) { return try checkpoint.verified(by: current) } catch { refusal = error }
    guard refusal.code != .internalFailure else { throw refusal }
    for key in keys.dropLast().reversed()
    where isTrusted(key, forSize: checkpoint.unverifiedCheckpoint.size) {
      do throws(NoteError) { return try checkpoint.verified(by: key) } catch {
        guard error.code != .internalFailure else { throw error }
      }
    }
    throw refusal
  }

  package func verify(_ proof: LogProof, entry: [UInt8]) throws(LogProofError) -> VerifiedProof {
    let key: NoteVerifierKey
    do throws(NoteError) { key = try verify(proof.checkpoint).logKey } catch { throw .checkpoint(error) }
    return try proof.verify(entry: entry, by: key)
  }

  static let fileBeginning = Array("c2sp.org/tlog-proof@v1\n".utf8)

  mutating func append(_ succession: KeySuccession) { successions.append(succession) }

  static func proofs(in file: [UInt8]) throws(LogFormatError) -> [LogProof] {
    let header = fileBeginning
    var proofs: [LogProof] = []
    var rest = file[...]
    while !rest.isEmpty {
      // A proof ends before a line that is the header of the next proof.
      let next = rest.indices.dropFirst().first {
        rest[$0 - 1] == UInt8(ascii: "\n") && rest[$0...].starts(with: header)
      }
      proofs.append(try LogProof(parsing: Array(rest[..<(next ?? rest.endIndex)])))
      rest = rest[(next ?? rest.endIndex)...]
    }
    return proofs
  }
}

/// A proven entry by which one key of a trail took over from the key before it.
package struct KeySuccession: Sendable, Hashable {
  package let key: NoteVerifierKey
  package let index: UInt64
  let proof: LogProof

  /// The largest number of entries that the replaced key vouches for: those up to this one.
  var size: UInt64 { index + 1 }

  /// Reads the entry of a proof; `nil` if it does not replace `old`.
  init?(_ proof: LogProof, by old: NoteVerifierKey) throws(NoteError) {
    guard let bytes = proof.extra, proof.checkpoint.unverifiedCheckpoint.size == proof.index + 1 else {
      return nil
    }
    do throws(LogProofError) { _ = try proof.verify(entry: bytes, by: old) } catch {
      if case .checkpoint(let failure) = error, failure.code == .internalFailure { throw failure }
      return nil
    }
    guard let key = Self.key(in: proof), UTF8Text.isIdentical(key.name, old.name) else { return nil }
    self.key = key
    index = proof.index
    self.proof = proof
  }

  /// Returns the key that took over by the entry of a proof, whose signature is not checked.
  static func key(in proof: LogProof) -> NoteVerifierKey? {
    guard let entry = try? AuditEntry(parsing: proof.extra ?? []), entry.kind == .key else { return nil }
    return entry.key.flatMap { try? NoteVerifierKey($0) }
  }
}

extension KeyChain {
  /// Compares the proofs of entries that replaced the key, as they are stored or were exported, with these entries, in
  /// order; `nil` if they are the proofs of these.
  ///
  /// The first key is not in any entry: the signature of the first proof is verified only if the first key is the
  /// trusted one.
  static func fault(
    in proofs: [LogProof], of entries: [UInt64], trusting trusted: NoteVerifierKey,
    root: (UInt64) throws -> TreeHash
  ) throws -> String? {
    guard proofs.map(\.index) == entries else {
      return
        "The trail's key was replaced by \(Self.name(entries)); there are proofs of \(Self.name(proofs.map(\.index)))."
    }
    guard let first = proofs.first else { return nil }
    var keys = try KeySuccession(first, by: trusted) == nil ? [] : [trusted]
    for proof in proofs {
      let checkpoint = proof.checkpoint.unverifiedCheckpoint
      let isSigned = try keys.last.map { try KeySuccession(proof, by: $0) != nil } ?? true
      guard isSigned, let key = KeySuccession.key(in: proof), checkpoint.origin == trusted.name,
        checkpoint.size == proof.index + 1, try checkpoint.root == root(checkpoint.size),
        proof.checkpoint.note.signatures.count == 1, Self.isIncluded(proof)
      else {
        return "The proof of entry \(proof.index), which replaced the trail's key, is not one of the trail."
      }
      keys.append(key)
    }
    return keys.contains(trusted)
      ? nil : "The proofs of the entries that replaced the trail's key do not lead to it."
  }

  private static func isIncluded(_ proof: LogProof) -> Bool {
    let checkpoint = proof.checkpoint.unverifiedCheckpoint
    do {
      try MerkleTree.verifyInclusion(
        leafHash: .leaf(proof.extra ?? []), index: proof.index, size: checkpoint.size, root: checkpoint.root,
        proof: proof.inclusionProof)
      return true
    } catch { return false }
  }

  private static func name(_ indexes: [UInt64]) -> String {
    indexes.isEmpty ? "none" : "entries " + indexes.map(String.init).joined(separator: ", ")
  }
}
