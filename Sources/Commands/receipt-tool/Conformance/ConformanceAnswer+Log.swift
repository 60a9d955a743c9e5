// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import TransparencyLog

extension ConformanceAnswer {
  /// The answer to a case of the log: signed notes, checkpoints, cosignatures and proofs.
  ///
  /// - Throws: The error for an operation that is not known.
  init(ofLog asked: ConformanceCase) throws {
    let answers: [String: (JSONValue) throws -> JSONValue] = [
      "note": Self.note, "checkpoint": Self.checkpoint, "cosignature": Self.cosignature,
      "inclusion": Self.inclusion, "consistency": Self.consistency, "tlog-proof": Self.proof,
      "tlog-tiles": Self.tiles, "tree": Self.tree, "witness": { _ in try Self.witness(asked) },
    ]
    guard let answer = answers[asked.operation] else {
      throw MalformedReceipt(
        .unsupported, at: .jsonPath("$.operation"), "This harness knows no operation \(asked.operation).")
    }
    do {
      self.init(verdict: "valid", values: try answer(asked.input))
    } catch let refusal as Refusal {
      self.init(verdict: "undetermined", reason: refusal.reason, context: refusal.context)
    } catch {
      let reason = Self.reason(of: error)
      self.init(
        verdict: reason == Self.keyMissing ? "undetermined" : "invalid", reason: reason, context: "\(error)")
    }
  }

  /// The refusal of a key or a policy, which says nothing about what was signed.
  private struct Refusal: Error {
    let reason: String
    let context: String
  }

  private static let keyMissing = "key-missing"
  private static let unusableKey = "key-unusable"
  private static let malformedPolicy = "policy-malformed"

  private static func reason(of error: any Error) -> String {
    switch error {
    case let error as LogFormatError: error.code == .wrongEmptyRoot ? "wrong-root" : "malformed"
    case let error as NoteError: reason(of: error)
    case let error as ProofError: reason(of: error)
    case let error as MerkleTreeError: error.code == .sizesInWrongOrder ? "wrong-size" : "wrong-index"
    case let error as WitnessRefusal: error.reason
    case let error as TileRefusal: error.reason
    case LogProofError.checkpoint(let error): reason(of: error)
    case LogProofError.inclusion(let error): reason(of: error)
    default: "malformed"
    }
  }

  private static func reason(of error: NoteError) -> String {
    switch error.code {
    case .notSigned: keyMissing
    case .invalidSignature: "signature-mismatch"
    case .wrongOrigin: "wrong-origin"
    case .quorumNotMet: "too-few-witnesses"
    case .internalFailure: error.code.rawValue
    }
  }

  private static func reason(of error: ProofError) -> String {
    switch error.code {
    case .indexOutOfRange: "wrong-index"
    case .sizesInWrongOrder: "wrong-size"
    case .wrongLength: "proof-length"
    case .rootMismatch, .oldRootMismatch: "wrong-root"
    }
  }

  private static func note(_ input: JSONValue) throws -> JSONValue {
    let keys = try keys(input, "keys")
    let signed = try SignedNote(parsing: input.octets("note"))
    do throws(NoteError) {
      let note = try signed.verified(by: keys)
      return .members(
        ("text", .string(String(decoding: note.text, as: UTF8.self))),
        ("signers", .array(note.signers.map { .string($0.name) })))
    } catch {
      // A line of a cosigner's key is no signature of a note.
      guard error.code == .notSigned,
        keys.contains(where: { key in signed.signatures.contains(where: key.isNamed) })
      else { throw error }
      throw NoteError(.invalidSignature, error.message)
    }
  }

  private static func checkpoint(_ input: JSONValue) throws -> JSONValue {
    let keys = try keys(input, "keys")
    let signed = try SignedCheckpoint(parsing: input.octets("note"))
    let verified = try signed.verified(by: key(of: signed, among: keys), origin: input["origin"]?.string)
    return .members(members(of: verified))
  }

  private static func cosignature(_ input: JSONValue) throws -> JSONValue {
    let policy = try witnessPolicy(input)
    let verified = try policy.verify(SignedCheckpoint(parsing: input.octets("note")))
    return .members(
      ("witnesses", .array(verified.cosignatures.map { .string($0.key.name) })),
      ("timestamps", .array(verified.cosignatures.map { .integer(Int64(clamping: $0.timestamp)) })))
  }

  private static func inclusion(_ input: JSONValue) throws -> JSONValue {
    let leaf = input["record"] == nil ? try input.hash("leafHash") : .leaf(try input.base64("record"))
    try MerkleTree.verifyInclusion(
      leafHash: leaf, index: input.size("index"), size: input.size("size"), root: input.hash("rootHash"),
      proof: input.hashes("proof"))
    return .object([])
  }

  private static func consistency(_ input: JSONValue) throws -> JSONValue {
    try MerkleTree.verifyConsistency(
      from: input.size("firstSize"), oldRoot: input.hash("firstRoot"), to: input.size("secondSize"),
      root: input.hash("secondRoot"), proof: input.hashes("proof"))
    return .object([])
  }

  private static func proof(_ input: JSONValue) throws -> JSONValue {
    let record = try input.base64("record")
    let policy = input["policy"] == nil ? nil : try witnessPolicy(input)
    let keys = policy == nil ? try keys(input, "keys") : []
    let proof = try LogProof(parsing: input.octets("proof"))
    let verified: VerifiedProof
    if let policy {
      verified = try proof.verify(entry: record, policy: policy)
    } else {
      let key = try key(of: proof.checkpoint, among: keys)
      verified = try proof.verify(entry: record, by: key, origin: input["origin"]?.string)
    }
    let witnesses = verified.checkpoint.cosignatures.map { JSONValue.string($0.key.name) }
    return .members(
      members(of: verified.checkpoint) + [
        ("index", number(verified.index)), ("witnesses", policy == nil ? nil : .array(witnesses)),
      ])
  }

  /// The key whose name a line of the checkpoint has; the first one if there is none, so that it is said what is missing.
  static func key(
    of signed: SignedCheckpoint, among keys: [NoteVerifierKey]
  ) throws -> NoteVerifierKey {
    let named = keys.filter { key in signed.note.signatures.contains { key.isNamed(by: $0) } }
    let ofOrigin = named.first { UTF8Text.isIdentical($0.name, signed.unverifiedCheckpoint.origin) }
    guard let key = ofOrigin ?? named.first ?? keys.first else {
      throw NoteError(.notSigned, "no key is trusted")
    }
    return key
  }

  static func members(of verified: VerifiedCheckpoint) -> [(name: String, value: JSONValue?)] {
    let checkpoint = verified.checkpoint
    return [
      ("origin", .string(checkpoint.origin)), ("size", number(checkpoint.size)),
      ("rootHash", .string(checkpoint.root.base64)),
    ]
  }

  /// A number, from 2^53 on in a string.
  static func number(_ value: UInt64) -> JSONValue {
    value < 1 << 53 ? .integer(Int64(value)) : .string("\(value)")
  }

  private static func witnessPolicy(_ input: JSONValue) throws -> WitnessPolicy {
    if input["policy"] != nil {
      let text = try input.octets("policy")
      do { return try WitnessPolicy(parsing: text) } catch {
        throw Refusal(reason: malformedPolicy, context: "\(error)")
      }
    }
    let logs = try keys(.members(("keys", .array([input["logKey"] ?? .null]))), "keys")
    let witnesses = try keys(input, "witnesses")
    do {
      return try WitnessPolicy(
        logs: logs, witnesses: witnesses, threshold: Int(clamping: input.size("quorum")))
    } catch let error as LogFormatError where error.code == .unsupportedKeyType {
      throw Refusal(reason: unusableKey, context: "\(error)")
    } catch {
      throw Refusal(reason: malformedPolicy, context: "\(error)")
    }
  }

  static func keys(_ input: JSONValue, _ name: String) throws -> [NoteVerifierKey] {
    guard let texts = input[name]?.array else { throw MalformedReceipt.missing(name) }
    return try texts.map { text in
      do { return try NoteVerifierKey(text.string ?? "") } catch {
        throw Refusal(reason: unusableKey, context: "\(error)")
      }
    }
  }
}

extension JSONValue {
  /// The bytes of a text, which stands in UTF-8, or under the name with `Base64` after it in base64.
  func octets(_ name: String) throws(MalformedReceipt) -> [UInt8] {
    self[name] == nil ? try base64(name + "Base64") : Array(try text(name).utf8)
  }

  /// A size or an index: a number, or its digits in a string.
  func size(_ name: String) throws(MalformedReceipt) -> UInt64 {
    let value = self[name]
    guard let size = value?.int64.flatMap({ UInt64(exactly: $0) }) ?? value?.string.flatMap({ UInt64($0) }),
      value?.string == nil || value?.string == "\(size)"
    else { throw .missing(name) }
    return size
  }

  func hash(_ name: String) throws(MalformedReceipt) -> TreeHash {
    guard let hash = TreeHash(base64: Array(try text(name).utf8)[...]) else { throw .missing(name) }
    return hash
  }

  func hashes(_ name: String) throws(MalformedReceipt) -> [TreeHash] {
    guard let texts = self[name]?.array else { throw .missing(name) }
    return try texts.map { text throws(MalformedReceipt) in
      try JSONValue.members(("hash", text)).hash("hash")
    }
  }
}
