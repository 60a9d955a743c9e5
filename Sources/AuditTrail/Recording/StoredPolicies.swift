// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto
public import ReceiptVerification

extension AuditLog {
  /// Keeps what a policy says, once, so that the digest that entries name it by can be read: ``TrailView/policy(_:)``.
  /// Blocks.
  ///
  /// - Throws: ``AuditError/Code/readOnly`` without the private key; those of the storage.
  public func keep(policy: VerificationPolicy) throws(AuditError) {
    let text = PolicyDescription(policy).text
    do {
      let digest = SHA256Digest(of: Array(text.utf8))
      guard try storage.read({ try StoredPolicies.text(of: digest, in: $0) }) == nil else { return }
      _ = try context.keys.signer()
      try storage.write { try StoredPolicies.store([text], in: $0) }
    } catch { throw AuditError(error) }
  }
}

extension TrailView {
  /// What the policy says that entries name by this digest (``EntryFacts/policy``): lines as in ``PolicyDescription/text``;
  /// `nil` if the trail does not have it.
  ///
  /// - Throws: ``AuditError/Code/tampered`` where another text is in its place, ``StorageError``.
  public func policy(_ digest: SHA256Digest) throws -> String? {
    guard let text = try StoredPolicies.text(of: digest, in: reader) else { return nil }
    guard SHA256Digest(of: Array(text.utf8)) == digest else {
      throw AuditError(
        .tampered, at: "policy \(digest.hexadecimal)",
        "Another text is in the place of the policy. Restore the trail from a backup.")
    }
    return text
  }
}

/// The texts of policies: notes of the trail that need no signature, as entries have their digests.
enum StoredPolicies {
  static func text(of digest: SHA256Digest, in reader: any StorageReader) throws -> String? {
    try reader.value(.notes, TrailNotes.policy(digest)).map { String(decoding: $0, as: UTF8.self) }
  }

  static func all(in reader: any StorageReader) throws -> [String] {
    var texts: [String] = []
    try reader.forEach(.notes, in: TrailNotes.policies) { _, text in
      texts.append(String(decoding: text, as: UTF8.self))
      return true
    }
    return texts
  }

  static func store(_ texts: [String], in writer: any StorageWriter) throws {
    for text in texts {
      let bytes = Array(text.utf8)
      try writer.put(.notes, TrailNotes.policy(SHA256Digest(of: bytes)), bytes)
    }
  }

  /// Texts as a file: no text has an empty line, and each is followed by one.
  static func file(_ texts: [String]) -> [UInt8] { texts.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] } }

  static func texts(in file: [UInt8]) -> [String] {
    String(decoding: file, as: UTF8.self).split(separator: "\n\n").map { $0 + "\n" }
  }
}
