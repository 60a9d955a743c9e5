// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import TransparencyLog

extension AuditLog {
  /// The keys of the trail: the trusted key, and those that took over from it.
  public var keys: KeyChain { context.keys.chain }

  /// Replaces the trail's key by another one.
  ///
  /// The current key signs an entry that names the new key, and the new key signs everything after it.
  ///
  /// Anyone who trusts the old key can follow the entry to the new one. Anything that the old key signs afterwards is
  /// not accepted.
  ///
  /// Other processes that write must open the trail again with the new private key; those that only read need not. A
  /// checkpoint that is signed by the new key is published. Witnesses must know this key before they cosign.
  ///
  /// - Parameter new: The new private key, which has the trail's name.
  /// - Returns: The entry, with its proof.
  /// - Throws: ``AuditError``: ``AuditError/Code/wrongKey`` if the key has another name or was in use before.
  @discardableResult
  public func rotateKey(to new: NoteSignerKey) async throws(AuditError) -> KeySuccession {
    guard new.name == configuration.origin, !keys.keys.contains(new.verifierKey) else {
      throw AuditError(
        .wrongKey, at: "key",
        "The new key is named \(configuration.origin), as the trail is, and was not in use before.")
    }
    let now = options.clock().wholeMilliseconds ?? 0
    return try await BlockingWork.run { [self] () throws(AuditError) in
      let succession = try writer.rotateKey(to: new, at: now)
      try publisher.publish()
      return succession
    }
  }
}
