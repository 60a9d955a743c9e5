// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto

/// Prints an entry of a trail.
struct EntryReport {
  typealias Erasable = TrailRow.Erasable

  /// A value in machine-readable form.
  enum Value {
    case text(String)
    case number(UInt64)
    case checks([RecordedCheck])

    static func instant(_ milliseconds: Int64) -> Value { .text(EntryReport.instant(milliseconds)) }
    static func digest(_ digest: SHA256Digest) -> Value { .text(digest.hexadecimal) }
  }

  let index: UInt64
  let entry: AuditEntry
  var erasable: Erasable?
  var customer: String?

  /// An entry with the state of its erasable part.
  init(_ recorded: RecordedEntry, in view: TrailView, showsCustomer: Bool = false) throws {
    self.init(index: recorded.index, entry: recorded.entry)
    guard recorded.entry.commitment != nil else { return }
    let part: ErasablePart?
    do { part = try view.erasablePart(at: recorded.index) } catch let error as AuditError
      where error.code == .keysMissing
    {
      erasable = .noKeys
      return
    }
    erasable = part == nil ? .erased : .kept
    if showsCustomer { customer = part?.customerToken }
  }

  /// A row of a table.
  init(_ row: TrailRow) {
    self.init(index: row.recorded.index, entry: row.recorded.entry)
    erasable = row.erasable
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
    add("key", entry.key)
    add("previous", entry.previous.map { "entry \($0)" })
    add("customer", customer)
    add("erasable", erasable?.rawValue)
    return lines.map { ShownText.plain($0) }.joined(separator: "\n") + "\n"
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
    return ShownText.plain(parts.joined(separator: "  ")) + "\n"
  }

  /// One JSON object and a line feed. Absent fields are left out.
  func jsonLine() -> [UInt8] {
    var object = JSONWriter(.auditEntry)
    append(to: &object)
    return object.line()
  }

  /// The members of the object.
  func append(to object: inout JSONWriter) {
    for (name, value) in columns {
      switch value {
      case .text(let text)?: object.member(name, text)
      case .number(let number)?: object.member(name, number)
      case .checks(let checks)?:
        object.name(name)
        Self.append(checks, to: &object)
      case nil: continue
      }
    }
    object.member("customer", customer)
  }

  static func append(_ checks: [RecordedCheck], to object: inout JSONWriter) {
    object.beginArray()
    for check in checks {
      object.beginObject()
      object.member("name", check.name)
      object.member("answer", check.answer.rawValue)
      object.endObject()
    }
    object.endArray()
  }

  /// The recorded values by name, always with the same names in the same order.
  var columns: [(name: String, value: Value?)] {
    [
      ("index", .number(index)), ("time", .instant(entry.time)), ("kind", .text(entry.kind.rawValue)),
      ("id", entry.id.map(Value.text)), ("format", entry.format.map(Value.text)),
      ("notificationType", entry.notification.map(Value.text)), ("subtype", entry.subtype.map(Value.text)),
      ("receiptSha256", entry.receipt.map(Value.digest)),
      ("encodingSha256", entry.encoding.map(Value.digest)),
      ("transactionId", entry.transaction.map(Value.text)),
      ("originalTransactionId", entry.original.map(Value.text)),
      ("productId", entry.product.map(Value.text)), ("bundleId", entry.bundle.map(Value.text)),
      ("environment", entry.environment.map(Value.text)), ("expiresDate", entry.expires.map(Value.instant)),
      ("revocationDate", entry.revoked.map(Value.instant)),
      ("verdict", entry.verdict.map { .text($0.rawValue) }),
      ("reason", entry.reason.map(Value.text)), ("signerSha256", entry.signer.map(Value.digest)),
      ("rootSha256", entry.root.map(Value.digest)), ("policySha256", entry.policy.map(Value.digest)),
      ("checks", entry.checks.isEmpty ? nil : .checks(entry.checks)),
      ("key", entry.key.map(Value.text)), ("erased", entry.erased.map(Value.number)),
      ("size", entry.size.map(Value.number)),
      ("newest", entry.newest.map(Value.number)), ("count", entry.count.map(Value.number)),
      ("previous", entry.previous.map(Value.number)), ("commitment", entry.commitment.map(Value.digest)),
      ("erasable", erasable.map { .text($0.rawValue) }),
    ]
  }

  static func instant(_ milliseconds: Int64) -> String {
    Timestamp(millisecondsSince1970: Double(milliseconds)).iso8601
  }
}

extension JSONWriter {
  mutating func member(_ name: String, _ value: UInt64?) {
    guard let value else { return }
    self.name(name)
    // Larger integers are strings, because JSON readers would lose precision.
    if let small = Int64(exactly: value), small < 1 << 53 { integer(small) } else { string(String(value)) }
  }
}
