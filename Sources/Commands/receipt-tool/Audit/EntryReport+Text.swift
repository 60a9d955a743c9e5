// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import CommandOutput
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto

extension EntryReport {
  func text() -> String {
    var report = ReportText("entry \(index)  \(Self.instant(entry.time))  \(entry.kind.rawValue)")
    func add(_ fields: some Sequence<EntryField>) {
      for field in fields {
        guard let label = field.label else { continue }
        switch entry[field] {
        case .text(let text)?:
          let subtype = field == .notification ? entry.subtype.map { ", \($0)" } ?? "" : ""
          report.add(label, (field.form == .digest ? "sha256 " : "") + text + subtype)
        case .number(let number)?: report.add(label, field.form == .index ? "entry \(number)" : "\(number)")
        case .checks(let checks)?:
          for check in checks { report.add(label, "\(check.name): \(check.answer.rawValue)") }
        case nil: break
        }
      }
    }
    report.add(
      "verdict", entry.verdict.map { $0.rawValue.uppercased() + (entry.reason.map { ": \($0)" } ?? "") })
    add(EntryField.allCases.filter { !$0.isBelow })
    if entry.kind == .anchor {
      report.add(
        "states",
        "\(entry.count ?? 0) entries of this original transaction"
          + (entry.newest.map { ", the newest being entry \($0)," } ?? "")
          + " among the first \(entry.size ?? 0)")
    }
    add(EntryField.allCases.filter(\.isBelow))
    report.add("customer", customer)
    report.add("erasable", erasable?.rawValue)
    return report.text
  }

  func summary() -> String {
    let parts = [
      "\(index)", Self.instant(entry.time), entry.verdict?.rawValue ?? entry.kind.rawValue,
      entry.reason.map { "(\($0))" }, entry.id, entry.notification, entry.transaction, entry.product,
      entry.expires.map { "expires \(Self.instant($0))" },
      entry.revoked.map { "REVOKED \(Self.instant($0))" }, entry.erased.map { "of entry \($0)" },
      entry.count.map { "\($0) entries before" },
    ]
    return ShownText.plain(parts.compactMap(\.self).joined(separator: "  ")) + "\n"
  }

  func jsonLine() -> [UInt8] { JSONWriter.line("audit-entry", append(to:)) }
}

extension EntryField {
  /// The name of its line in the text; `nil` if the text has the value elsewhere, or not at all.
  fileprivate var label: String? {
    switch self {
    case .bundle: "app"
    case .revoked: "REVOKED"
    case .checks: "checked"
    case .time, .kind, .verdict, .reason, .subtype, .size, .newest, .count, .commitment: nil
    default: rawValue
    }
  }

  /// `true` if its line is below what most readers look for.
  fileprivate var isBelow: Bool { form == .digest || self == .key || self == .previous }
}
