// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto

/// What a person who helps a customer wants to know of a receipt: the purchase and its state, then who signed, then the
/// certificates. The first and the last line say that nothing was verified.
struct InspectionSummary {
  /// The instant to which states relate, such as whether a subscription has expired.
  let now: Timestamp
  var text: SummaryText
  private var signers: [SignerSummary] = []

  /// The summary of a receipt.
  static func text(of receipt: UnverifiedReceipt, source: String, now: Timestamp, _ colors: Colors) -> String
  {
    var summary = InspectionSummary(now: now, text: SummaryText(colors))
    summary.text.head("UNVERIFIED", .caution, "  \(Inspection.format(of: receipt))  \(source)")
    summary.add(receipt)
    summary.addSigners()
    summary.text.head("UNVERIFIED", .caution, Inspection.notice)
    return summary.text.text
  }

  /// The certificates of a receipt and of its signed parts as a picture.
  static func certificates(of receipt: UnverifiedReceipt, source: String, _ colors: Colors) -> String {
    // Signers are found with the content, which is not shown.
    var summary = InspectionSummary(now: Timestamp(secondsSince1970: 0), text: SummaryText(colors))
    summary.add(receipt)
    var text = SummaryText(colors)
    text.head("UNVERIFIED", .caution, "  certificates of \(Inspection.format(of: receipt))  \(source)")
    for (index, signer) in summary.signers.enumerated() {
      let isRepeated = summary.isRepeated(index)
      if let part = signer.part { text.head("\(part):\(isRepeated ? " the same" : "")") }
      for line in isRepeated ? [] : signer.chain.picture { text.head(line) }
    }
    text.head("UNVERIFIED", .caution, Inspection.notice)
    return text.text
  }

  private init(now: Timestamp, text: SummaryText) {
    self.now = now
    self.text = text
  }

  private mutating func add(_ receipt: UnverifiedReceipt) {
    do throws(MalformedReceipt) {
      switch receipt {
      case .jws(let jws):
        signers = [SignerSummary(jws)]
        try add(jws.decodePayload())
      case .appReceipt(let receipt):
        signers = SignerSummary.all(of: receipt)
        add(try receipt.decodePayload())
      case .transactionReceipt(let receipt):
        signers = [SignerSummary(receipt)]
        add(try receipt.decodePurchaseInfo(), receipt)
      case .detached(let receipt):
        signers = [SignerSummary(receipt)]
        add(try receipt.decoded().unsafelyAssumeAuthentic())
      }
    } catch {
      text.add("content", "MALFORMED", .bad, ": \(error)")
    }
  }

  /// A signed part of a notification, under a line with its name.
  mutating func addPart(_ name: String, _ compact: String?) {
    guard let compact else { return }
    text.head(name)
    do throws(MalformedReceipt) {
      let jws = try UnverifiedJWS(parsing: Array(compact.utf8))
      signers.append(SignerSummary(jws, part: name))
      let payload = try jws.decodePayload()
      switch payload {
      // It has no signed parts of its own.
      case .notification: text.add("content", "UNEXPECTED", .bad, ": a notification")
      default: add(payload)
      }
    } catch {
      text.add("content", "MALFORMED", .bad, ": \(error)")
    }
  }

  private mutating func addSigners() {
    for (index, signer) in signers.enumerated() where !isRepeated(index) {
      text.head(signer.part.map { "signer of \($0)" } ?? "signer")
      if let problem = signer.problem { text.add("signature", problem.word, .bad, problem.explanation) }
      text.add("claims to be", signer.name)
      text.add("algorithm", signer.algorithm)
      text.add("signed", signer.signedDate.map { TimeText.full($0) })
      for other in signers[(index + 1)...] where other.isSame(as: signer) {
        text.add(
          other.part ?? "", "the same" + (other.signedDate.map { ", signed \(TimeText.full($0))" } ?? ""))
      }
      guard !signer.certificates.isEmpty else { continue }
      text.head(signer.part.map { "certificates of \($0)" } ?? "certificates")
      for line in signer.chain.lines { text.head("  " + line) }
    }
  }

  /// Whether a part has the signer of the receipt or of a part before it.
  private func isRepeated(_ index: Int) -> Bool {
    signers[..<index].contains { signers[index].isSame(as: $0) }
  }
}
