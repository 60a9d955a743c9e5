// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The unverified contents of a receipt: as JSON, as text, and as the parts of a page. The bytes are untrusted. Each
/// malformed part is reported as malformed.
///
///     let inspection = try Inspection(of: bytes)
///     var object = JSONWriter(type: "inspection")
///     inspection.write(to: &object)
///     object.endObject()
package struct Inspection: Sendable {
  /// The text after the word UNVERIFIED.
  static let notice = ": nothing here was checked; see 'receipt-tool verify'"

  package let receipt: UnverifiedReceipt

  /// Reads a receipt in any of its formats.
  ///
  /// - Throws: ``MalformedReceipt`` if the bytes are not a receipt. A receipt with malformed parts is not an error.
  package init(of bytes: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    receipt = try UnverifiedReceipt(parsing: bytes, limits: limits)
  }

  /// The kind that the receipt's content claims; `unknown`, with the reason, if it claims none.
  package var format: String {
    switch receipt {
    case .appReceipt: ReceiptKind.appReceipt.rawValue
    case .transactionReceipt: ReceiptKind.transactionReceipt.rawValue
    case .detached(let receipt): Self.format(of: receipt).rawValue
    case .jws(let jws): Self.format(of: jws)
    }
  }

  /// Writes the members that `receipt-tool inspect --json` prints for a receipt after its source.
  ///
  /// - Parameters:
  ///   - object: The object, which is open.
  ///   - redacting: `true` to replace the values, which are a customer's, and to keep the structure, the types and the
  ///     lengths.
  package func write(to object: inout JSONWriter, redacting: Bool = false) {
    object.member("verified", false)
    object.member("notice", "UNVERIFIED" + Self.notice)
    let members = InspectionContents.members(of: receipt)
    for member in redacting ? RedactedContents.members(members) : members {
      object.name(member.name)
      object.value(member.value)
    }
  }

  /// All fields of the receipt with their meanings: the purchase first, then the signature and the certificates.
  package var fields: [InspectedField] {
    let purchase = ["payload", "inAppPurchases", "attributes", "purchaseInfo", "data"]
    let members = InspectionContents.members(of: receipt).filter { $0.name != "format" }
    let first = purchase.flatMap { name in members.filter { $0.name == name } }
    return InspectedField.all(
      first + members.filter { !purchase.contains($0.name) }, of: ReceiptKind(rawValue: format))
  }

  /// Returns the summary for people who help a customer. States, such as an expired subscription, relate to the instant
  /// `now`.
  package func summary(at now: Timestamp) -> InspectionSummary { InspectionSummary(of: receipt, at: now) }

  /// The claimed signers of the receipt and of its signed parts, with their certificate chains.
  package var signers: [ClaimedSigner] {
    // The summary collects the signers; the instant does not affect them.
    summary(at: Timestamp(secondsSince1970: 0)).signers
  }

  static func format(of receipt: UnverifiedDetachedReceipt) -> ReceiptKind {
    let content = try? receipt.decoded().unsafelyAssumeAuthentic()
    return content?.kind ?? DetachedContent.claimedKind(of: receipt.signedBytes)
  }

  static func format(of jws: UnverifiedJWS) -> String {
    do throws(MalformedReceipt) {
      return try jws.decoded().content.kind.rawValue
    } catch {
      return "unknown: \(error)"
    }
  }
}
