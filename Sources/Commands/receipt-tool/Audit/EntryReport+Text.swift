// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto

/// The human-readable text of an entry, and its line of JSON.
extension EntryReport {
  /// Several lines of human-readable text.
  func text() -> String {
    var lines = ["entry \(index)  \(Self.instant(entry.time))  \(entry.kind.rawValue)"]
    func add(_ name: String, _ value: String?) {
      guard let value else { return }
      lines.append("  " + name + String(repeating: " ", count: max(1, 13 - name.count)) + value)
    }
    add("verdict", entry.verdict.map { $0.rawValue.uppercased() + (entry.reason.map { ": \($0)" } ?? "") })
    add("id", entry.id)
    add("format", entry.format)
    add("notification", entry.notification.map { $0 + (entry.subtype.map { ", \($0)" } ?? "") })
    add("transaction", entry.transaction)
    add("original", entry.original)
    add("product", entry.product)
    add("app", entry.bundle)
    add("environment", entry.environment)
    add("expires", entry.expires.map(Self.instant))
    add("REVOKED", entry.revoked.map(Self.instant))
    for check in entry.checks { add("checked", "\(check.name): \(check.answer.rawValue)") }
    add("erased", entry.erased.map { "entry \($0)" })
    if entry.kind == .anchor {
      add(
        "states",
        "\(entry.count ?? 0) entries of this original transaction"
          + (entry.newest.map { ", the newest being entry \($0)," } ?? "")
          + " among the first \(entry.size ?? 0)")
    }
    add("receipt", entry.receipt.map { "sha256 \($0.hexadecimal)" })
    add("encoding", entry.encoding.map { "sha256 \($0.hexadecimal)" })
    add("signer", entry.signer.map { "sha256 \($0.hexadecimal)" })
    add("root", entry.root.map { "sha256 \($0.hexadecimal)" })
    add("policy", entry.policy.map { "sha256 \($0.hexadecimal)" })
    add("key", entry.key)
    add("previous", entry.previous.map { "entry \($0)" })
    add("customer", customer)
    add("erasable", erasable?.rawValue)
    return lines.map { ShownText.plain($0) }.joined(separator: "\n") + "\n"
  }

  /// One line of human-readable text.
  func summary() -> String {
    var parts = ["\(index)", Self.instant(entry.time), entry.verdict?.rawValue ?? entry.kind.rawValue]
    if let reason = entry.reason { parts.append("(\(reason))") }
    if let id = entry.id { parts.append(id) }
    if let notification = entry.notification { parts.append(notification) }
    if let transaction = entry.transaction { parts.append(transaction) }
    if let product = entry.product { parts.append(product) }
    if let expires = entry.expires { parts.append("expires \(Self.instant(expires))") }
    if let revoked = entry.revoked { parts.append("REVOKED \(Self.instant(revoked))") }
    if let erased = entry.erased { parts.append("of entry \(erased)") }
    if let count = entry.count { parts.append("\(count) entries before") }
    return ShownText.plain(parts.joined(separator: "  ")) + "\n"
  }

  /// One JSON object and a line feed.
  ///
  /// Absent fields are left out.
  func jsonLine() -> [UInt8] {
    var object = JSONWriter(.auditEntry)
    append(to: &object)
    return object.line()
  }
}
