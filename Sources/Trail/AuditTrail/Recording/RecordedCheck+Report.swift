// SPDX-License-Identifier: Apache-2.0

package import ReceiptVerification

extension RecordedCheck {
  /// The maximum number of lines in an entry; the reports of further checkers in a composition are left out.
  package static let maximumCount = 16
  /// The maximum length of a checker's name, in bytes; a longer name is cut off.
  static let maximumNameByteCount = 128

  /// Returns a line for each report; that of a composition is followed by those of the checkers that it asked.
  package static func list(_ reports: [CheckerReport]) -> [RecordedCheck] {
    var list: [RecordedCheck] = []
    for report in reports { append(report, to: &list, depth: 0) }
    return list
  }

  private static func append(_ report: CheckerReport, to list: inout [RecordedCheck], depth: Int) {
    guard list.count < maximumCount, depth < maximumCount else { return }
    list.append(RecordedCheck(name: name(report.name), answer: Answer(report.answer)))
    for part in report.parts { append(part, to: &list, depth: depth + 1) }
  }

  private static func name(_ name: String) -> String {
    if 1...maximumNameByteCount ~= name.utf8.count { return name }
    if name.isEmpty { return "unnamed" }
    var cut = String.UnicodeScalarView()
    var count = 0
    for scalar in name.unicodeScalars {
      count += UTF8.width(scalar)
      guard count <= maximumNameByteCount else { break }
      cut.append(scalar)
    }
    return String(cut)
  }
}

extension RecordedCheck.Answer {
  fileprivate init(_ answer: CheckerAnswer) {
    switch answer {
    case .terminalFailure: self = .failed
    case .retryableFailure: self = .unavailable
    case .response(let response):
      switch response.standing {
      case .confirmed: self = .confirmed
      case .revoked: self = .revoked
      case .refused: self = .refused
      }
    }
  }
}
