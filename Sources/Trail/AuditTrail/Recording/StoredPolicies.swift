// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto
internal import ReceiptVerification

extension TrailView {
  /// Returns the text of the policy that entries name by this digest (``EntryFacts/policy``); `nil` if the
  /// trail never had it.
  ///
  /// - Throws: ``AuditError/Code/tampered`` if another text is in its place, or the text was kept and is missing;
  ///   ``StorageError``.
  public func policy(_ digest: SHA256Digest) throws -> String? {
    if let text = try reader.value(.notes, TrailNotes.policy(digest)) {
      guard SHA256Digest(of: text) == digest else { throw StoredPolicies.another(digest) }
      return String(decoding: text, as: UTF8.self)
    }
    // The newest head, since this snapshot may be from before the policy was kept.
    let head = try context.keys.head(in: reader)
    guard try !StoredPolicies.list(in: reader, head).contains(digest) else {
      throw StoredPolicies.another(digest)
    }
    return nil
  }
}

/// The texts of policies and the list of their digests, which are notes of the trail that the signed head vouches for.
///
/// The list consists of the 32 bytes of each digest, in ascending order.
enum StoredPolicies {
  static func keep(
    _ policy: VerificationPolicy, in storage: any TrailStorage, _ keys: TrailKeys
  ) throws(AuditError) {
    let text = PolicyDescription(policy).text
    do {
      let isKept = try storage.read { try Self.isKept(text, in: $0, keys.head(in: $0)) }
      guard !isKept else { return }
      _ = try keys.signer()
      try storage.write { writer in
        var head = try keys.head(in: writer)
        try keep([text], &head, in: writer)
        try keys.write(head, in: writer)
      }
    } catch { throw AuditError(error) }
  }

  /// Returns the digests of the policies whose texts are kept, restored from the texts if the list was altered.
  static func list(in reader: any StorageReader, _ head: TrailHead) throws -> Set<SHA256Digest> {
    guard let expected = head.policies else { return [] }
    if let row = try reader.value(.notes, TrailNotes.policyList), SHA256Digest(of: row) == expected {
      return digests(of: row)
    }
    var stored: Set<SHA256Digest> = []
    for row in try rows(in: reader) {
      let digest = SHA256Digest(of: row.text)
      if TrailNotes.policy(digest) == row.key { stored.insert(digest) }
    }
    guard SHA256Digest(of: encode(stored)) == expected else {
      throw AuditError(
        .tampered, at: "notes",
        "The list of the policies whose texts are kept was altered. Restore the trail from a backup.")
    }
    return stored
  }

  private static func digests(of row: [UInt8]) -> Set<SHA256Digest> {
    let starts = stride(from: 0, to: row.count, by: SHA256Digest.byteCount)
    return Set(starts.compactMap { SHA256Digest(row[$0...].prefix(SHA256Digest.byteCount)) })
  }

  private static func encode(_ digests: Set<SHA256Digest>) -> [UInt8] {
    digests.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self)
  }

  /// Returns `true` if a text is kept, and nothing is left to do.
  static func isKept(_ text: String, in reader: any StorageReader, _ head: TrailHead) throws -> Bool {
    let bytes = Array(text.utf8)
    let digest = SHA256Digest(of: bytes)
    guard let row = try reader.value(.notes, TrailNotes.policyList), SHA256Digest(of: row) == head.policies,
      digests(of: row).contains(digest)
    else { return false }
    return try reader.value(.notes, TrailNotes.policy(digest)) == bytes
  }

  /// Keeps texts in addition to those that are kept already; the head vouches for them and must then be written.
  ///
  /// Texts that were altered or removed are restored if they are among them, and texts that nobody kept are removed.
  static func keep(_ texts: [String], _ head: inout TrailHead, in writer: any StorageWriter) throws {
    var kept = try list(in: writer, head)
    for bytes in texts.map({ Array($0.utf8) }) {
      let digest = SHA256Digest(of: bytes)
      kept.insert(digest)
      try writer.put(.notes, TrailNotes.policy(digest), bytes)
    }
    for stray in try strays(in: writer, kept) { try writer.remove(.notes, in: stray...stray, erasing: false) }
    guard !kept.isEmpty else { return }
    let row = encode(kept)
    try writer.put(.notes, TrailNotes.policyList, row)
    head.policies = SHA256Digest(of: row)
  }

  private static func strays(in reader: any StorageReader, _ kept: Set<SHA256Digest>) throws -> [Int64] {
    let keys = Set(kept.map(TrailNotes.policy))
    return try rows(in: reader).map(\.key).filter { !keys.contains($0) }
  }

  private static func rows(in reader: any StorageReader) throws -> [(key: Int64, text: [UInt8])] {
    var rows: [(key: Int64, text: [UInt8])] = []
    try reader.forEach(.notes, in: TrailNotes.policies) { key, text in
      rows.append((key, text))
      return true
    }
    return rows
  }

  static func faults(in reader: any StorageReader, _ head: TrailHead) throws -> [TrailFault] {
    let kept: Set<SHA256Digest>
    do { kept = try list(in: reader, head) } catch let error as AuditError {
      return [TrailFault(.policyText, at: error.place, error.message)]
    }
    var faults = try kept.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      .filter { digest in
        try reader.value(.notes, TrailNotes.policy(digest)).map { SHA256Digest(of: $0) } != digest
      }
      .map { TrailFault(.policyText, at: another($0).place, another($0).message) }
    faults += try strays(in: reader, kept).map {
      TrailFault(.strayRow, at: "notes \($0)", "It is no text of a policy that the trail has kept.")
    }
    let row = try reader.value(.notes, TrailNotes.policyList)
    if row.map({ SHA256Digest(of: $0) }) != head.policies {
      faults.append(
        TrailFault(
          .policyText, at: "notes \(TrailNotes.policyList)",
          "The list of the policies was altered or removed."))
    }
    return faults
  }

  /// Returns all texts, after checking that they are those that were kept.
  static func verified(in reader: any StorageReader, _ head: TrailHead) throws -> [String] {
    if let fault = try faults(in: reader, head).first {
      throw AuditError(.tampered, at: fault.place, fault.message)
    }
    return try rows(in: reader).map { String(decoding: $0.text, as: UTF8.self) }
  }

  static func another(_ digest: SHA256Digest) -> AuditError {
    AuditError(
      .tampered, at: "policy \(digest.hexadecimal)",
      "Another text is in the place of the policy, or it was removed. Record a verdict under the policy once more, which "
        + "puts its text back, or restore the trail from a backup.")
  }

  /// Encodes texts as a file: no text has an empty line, and each is followed by one.
  static func file(_ texts: [String]) -> [UInt8] { texts.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] } }

  static func texts(in file: [UInt8]) -> [String] {
    String(decoding: file, as: UTF8.self).split(separator: "\n\n").map { $0 + "\n" }
  }

  /// Returns the fault of a file that must have texts of policies that entries name, each once.
  static func fault(in file: [UInt8], named: Set<SHA256Digest>) -> String? {
    let texts = texts(in: file)
    guard self.file(texts) == file else {
      return "It does not have texts that are each followed by an empty line."
    }
    var seen: Set<SHA256Digest> = []
    for text in texts {
      let digest = SHA256Digest(of: Array(text.utf8))
      guard named.contains(digest) else {
        return "No entry names the policy of a text in it: SHA-256 \(digest.hexadecimal)."
      }
      guard seen.insert(digest).inserted else { return "It has the text of \(digest.hexadecimal) twice." }
    }
    return nil
  }
}
