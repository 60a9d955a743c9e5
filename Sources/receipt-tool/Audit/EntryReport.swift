// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCodec

/// One entry of a trail, as it is printed.
struct EntryReport {
  /// What became of the erasable part.
  enum Erasable: String {
    case kept, erased
  }

  let index: UInt64
  let entry: AuditEntry
  var erasable: Erasable?
  var customer: String?

  /// An entry with the state of its erasable part.
  init(_ recorded: RecordedEntry, in view: TrailView, showsCustomer: Bool = false) throws {
    self.init(index: recorded.index, entry: recorded.entry)
    guard recorded.entry.commitment != nil else { return }
    let part = try view.erasablePart(at: recorded.index)
    erasable = part == nil ? .erased : .kept
    if showsCustomer { customer = part?.customerToken }
  }

  init(index: UInt64, entry: AuditEntry) {
    self.index = index
    self.entry = entry
  }

  /// A few lines for a person.
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
    add("previous", entry.previous.map { "entry \($0)" })
    add("customer", customer)
    add("erasable", erasable?.rawValue)
    return lines.map(PrintableText.sanitized).joined(separator: "\n") + "\n"
  }

  /// One line for a person.
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
    return PrintableText.sanitized(parts.joined(separator: "  ")) + "\n"
  }

  /// One JSON object and a line feed. Absent fields are left out.
  func jsonLine() -> [UInt8] {
    var object = JSONWriter()
    object.beginObject()
    append(to: &object)
    object.endObject()
    return object.bytes + [UInt8(ascii: "\n")]
  }

  /// The members of the object.
  func append(to object: inout JSONWriter) {
    object.member("index", index)
    object.member("time", Self.instant(entry.time))
    object.member("kind", entry.kind.rawValue)
    object.member("id", entry.id)
    object.member("format", entry.format)
    object.member("notification", entry.notification)
    object.member("subtype", entry.subtype)
    object.member("receipt", entry.receipt?.hexadecimal)
    object.member("encoding", entry.encoding?.hexadecimal)
    object.member("transaction", entry.transaction)
    object.member("original", entry.original)
    object.member("product", entry.product)
    object.member("bundle", entry.bundle)
    object.member("environment", entry.environment)
    object.member("expires", entry.expires.map(Self.instant))
    object.member("revoked", entry.revoked.map(Self.instant))
    object.member("verdict", entry.verdict?.rawValue)
    object.member("reason", entry.reason)
    object.member("signer", entry.signer?.hexadecimal)
    object.member("root", entry.root?.hexadecimal)
    object.member("policy", entry.policy?.hexadecimal)
    if !entry.checks.isEmpty {
      object.name("checks")
      object.beginArray()
      for check in entry.checks {
        object.beginObject()
        object.member("name", check.name)
        object.member("answer", check.answer.rawValue)
        object.endObject()
      }
      object.endArray()
    }
    object.member("erased", entry.erased)
    object.member("size", entry.size)
    object.member("newest", entry.newest)
    object.member("count", entry.count)
    object.member("previous", entry.previous)
    object.member("commitment", entry.commitment?.hexadecimal)
    object.member("customer", customer)
    object.member("erasable", erasable?.rawValue)
  }

  static func instant(_ milliseconds: Int64) -> String {
    Timestamp(millisecondsSince1970: Double(milliseconds)).iso8601
  }
}

extension JSONWriter {
  mutating func member(_ name: String, _ value: UInt64?) {
    guard let value else { return }
    self.name(name)
    // Beyond what others read as a number without loss, it is text.
    if let small = Int64(exactly: value), small < 1 << 53 { integer(small) } else { string(String(value)) }
  }
}
