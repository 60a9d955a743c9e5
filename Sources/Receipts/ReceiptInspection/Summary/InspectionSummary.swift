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
        try add(jws.decodePayload())
      case .appReceipt(let receipt):
        for signer in ClaimedSigner.all(of: receipt) { add(signer) }
        unshownSignerCount = max(0, receipt.signedData.signerInfos.count - signers.count)
        add(try receipt.decodePayload())
      case .transactionReceipt(let receipt):
        add(ClaimedSigner(receipt))
        add(try receipt.decodePurchaseInfo(), receipt)
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
      let payload = try jws.decodePayload()
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
