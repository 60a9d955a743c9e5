// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The summary of a receipt for people who help a customer: the purchase and its state, the signer, the certificates.
/// Nothing in it was verified.
package struct InspectionSummary {
  let now: Timestamp
  var collected = SummarySections()
  /// The claimed signer of the receipt, followed by those of its signed parts.
  package private(set) var signers: [ClaimedSigner] = []
  /// The number of signers of an app receipt that are not shown.
  private var unshownSignerCount = 0

  /// The statements of the receipt: one section, then one for each purchase or signed part.
  package var sections: [SummarySection] { collected.filled }

  init(of receipt: UnverifiedReceipt, at now: Timestamp) {
    self.now = now
    add(receipt)
  }

  private mutating func add(_ receipt: UnverifiedReceipt) {
    do throws(MalformedReceipt) {
      switch receipt {
      case .jws(let jws):
        add(ClaimedSigner(jws))
        try add(jws.decoded().content)
      case .appReceipt(let receipt):
        for signer in ClaimedSigner.all(of: receipt) { add(signer) }
        unshownSignerCount = max(0, receipt.signedData.signerInfos.count - signers.count)
        add(try receipt.decoded().content)
      case .transactionReceipt(let receipt):
        add(ClaimedSigner(receipt))
        add(try receipt.decoded().content, receipt)
      case .detached(let receipt):
        add(ClaimedSigner(receipt))
        add(try receipt.decoded().unsafelyAssumeAuthentic())
      }
    } catch {
      collected.add("content", "MALFORMED", .bad, ": \(error)")
    }
  }

  /// Adds a signed part of a notification, in a section with its name.
  mutating func addPart(_ name: String, _ compact: String?) {
    guard let compact else { return }
    collected.begin(name)
    do throws(MalformedReceipt) {
      let jws = try UnverifiedJWS(parsing: Array(compact.utf8))
      add(ClaimedSigner(jws, part: name))
      let payload = try jws.decoded().content
      switch payload {
      // A signed part has no signed parts of its own.
      case .notification: collected.add("content", "UNEXPECTED", .bad, ": a notification")
      default: add(payload)
      }
    } catch {
      collected.add("content", "MALFORMED", .bad, ": \(error)")
    }
  }

  /// Adds a signer; of signers with the same certificates only the first is shown.
  private mutating func add(_ signer: ClaimedSigner) {
    var signer = signer
    signer.isRepeated = signers.contains { signer.isSame(as: $0) }
    signers.append(signer)
  }

  /// The signers, with one line for each certificate.
  package var signerSections: [SummarySection] {
    var text = SummarySections()
    for (index, signer) in signers.enumerated() where !signer.isRepeated {
      text.begin(signer.part.map { "signer of \($0)" } ?? "signer")
      if let problem = signer.problem { text.add("signature", problem.word, .bad, problem.explanation) }
      text.add("claims to be", signer.name)
      text.add("algorithm", signer.algorithm)
      text.add("signed", signer.signedDate.map { TimeText.full($0) })
      for other in signers[(index + 1)...] where other.isSame(as: signer) {
        text.add(
          other.part ?? "", "the same" + (other.signedDate.map { ", signed \(TimeText.full($0))" } ?? ""))
      }
      guard !signer.certificates.isEmpty else { continue }
      text.begin(signer.part.map { "certificates of \($0)" } ?? "certificates")
      text.addCertificates(signer.chain.lines)
    }
    if unshownSignerCount > 0 { text.begin("\(unshownSignerCount) more signers, which are not shown") }
    return text.filled
  }
}

/// A section of a summary, such as one of several purchases. Control characters in untrusted text are replaced; markup
/// is not escaped.
package struct SummarySection: Sendable, Hashable {
  /// The title; `nil` for the statements of the receipt about itself.
  package let title: String?
  package internal(set) var fields: [SummaryField] = []
  /// A line for each certificate of a signer: name, validity, fingerprint.
  package internal(set) var certificates: [String] = []

  init(title: String? = nil) { self.title = title.map { ShownText.plain($0) } }
}

extension SummaryField {
  package var value: String { word + rest }
}

/// Collects the fields of a summary.
struct SummarySections {
  private var sections = [SummarySection()]

  /// The sections that have a title or a field.
  var filled: [SummarySection] { sections.filter { $0.title != nil || !$0.fields.isEmpty } }

  mutating func begin(_ title: String) { sections.append(SummarySection(title: title)) }

  /// Adds a name with its value, or nothing if the value is `nil`; an empty name continues the field before.
  mutating func add(_ name: String, _ value: String?) {
    guard let value else { return }
    append(
      SummaryField(
        name: name, word: "", emphasis: nil, rest: value.isEmpty ? "(empty)" : ShownText.plain(value)))
  }

  /// Adds a name with a value that begins with an emphasized word.
  mutating func add(_ name: String, _ word: String, _ emphasis: Emphasis, _ rest: String = "") {
    append(SummaryField(name: name, word: word, emphasis: emphasis, rest: ShownText.plain(rest)))
  }

  /// Adds the lines of a signer's certificates.
  mutating func addCertificates(_ lines: [String]) {
    sections[sections.count - 1].certificates += lines.map { ShownText.plain($0) }
  }

  private mutating func append(_ field: SummaryField) { sections[sections.count - 1].fields.append(field) }
}

/// Returns the values that are present, as a list in one line; `nil` if all are absent.
func listed(_ values: String?..., separator: String = ", ") -> String? {
  let present = values.compactMap { $0 }
  return present.isEmpty ? nil : present.joined(separator: separator)
}

/// Returns the meaning of a value without its full stop, or the value if it is not documented.
func meaning<Value>(_ meaning: String?, of value: Value) -> String {
  meaning.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 } ?? "\(value) (unknown)"
}
