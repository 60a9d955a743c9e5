// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension AuditLog {
  /// Enters a statement that names the newest entry of an original transaction and counts its entries.
  ///
  /// From then on none of these entries can be omitted unnoticed: the statement leads to the newest, and each entry
  /// leads to the one before it.
  ///
  /// All of these entries are read and verified first.
  ///
  /// - Returns: The acknowledgement of the statement.
  /// - Throws: ``AuditError/Code/tampered`` if one of the entries is not what was recorded.
  @discardableResult
  public func anchor(original: String) async throws(AuditError) -> AuditAcknowledgement {
    try publisher.requirePublishing()
    let now = options.clock().wholeMilliseconds ?? 0
    return try await BlockingWork.run { [self] () throws(AuditError) in try writer.anchor(original, at: now) }
  }
}
