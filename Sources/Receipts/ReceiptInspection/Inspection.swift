// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// What a receipt says, unverified: as JSON, as text, and in the parts that a page shows. It is made of bytes that anybody
/// may have written, and says of each part that is malformed that it is.
///
///     let inspection = try Inspection(of: bytes)
///     var object = JSONWriter(type: "inspection")
///     inspection.write(to: &object)
///     object.endObject()
package struct Inspection: Sendable {
  /// What follows the word UNVERIFIED.
  static let notice = ": nothing here was checked; see 'receipt-tool verify'"

  /// The receipt.
  package let receipt: UnverifiedReceipt

  /// Reads a receipt in any of its formats.
  ///
  /// - Throws: ``MalformedReceipt`` for what is not a receipt. One with malformed parts is shown.
  package init(of bytes: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    receipt = try UnverifiedReceipt(parsing: bytes, limits: limits)
  }

  /// The kind of the receipt, as its content claims it; `unknown`, with the reason, where it claims none.
  package var format: String {
    switch receipt {
    case .appReceipt: ReceiptKind.appReceipt.rawValue
    case .transactionReceipt: ReceiptKind.transactionReceipt.rawValue
    case .detached(let receipt): Self.format(of: receipt).rawValue
    case .jws(let jws): Self.format(of: jws)
    }
  }

  /// Writes the members of an object: what `receipt-tool inspect --json` prints of a receipt after its source.
  package func write(to object: inout JSONWriter) {
    object.member("verified", false)
    object.member("notice", "UNVERIFIED" + Self.notice)
    for member in InspectionContents.members(of: receipt) {
      object.name(member.name)
      object.value(member.value)
    }
  }

  /// Everything in the receipt, field by field, with what it means: first what was bought, then the signature and the
  /// certificates.
  package var fields: [InspectedField] {
    let purchase = ["payload", "inAppPurchases", "attributes", "purchaseInfo", "data"]
    let members = InspectionContents.members(of: receipt).filter { $0.name != "format" }
    let first = purchase.flatMap { name in members.filter { $0.name == name } }
    return InspectedField.all(
      first + members.filter { !purchase.contains($0.name) }, of: ReceiptKind(rawValue: format))
  }

  /// What a person who helps a customer wants to know. States, such as whether a subscription has expired, relate to the
  /// instant `now`.
  package func summary(at now: Timestamp) -> InspectionSummary { InspectionSummary(of: receipt, at: now) }

  /// Who claims to have signed the receipt and its signed parts, with the chains of their certificates.
  package var signers: [ClaimedSigner] {
    // Signers are found with the content, in which no instant matters here.
    summary(at: Timestamp(secondsSince1970: 0)).signers
  }

  static func format(of receipt: UnverifiedDetachedReceipt) -> ReceiptKind {
    let content = try? receipt.decoded().unsafelyAssumeAuthentic()
    return content?.kind ?? DetachedContent.claimedKind(of: receipt.signedBytes)
  }

  static func format(of jws: UnverifiedJWS) -> String {
    do throws(MalformedReceipt) {
      return try jws.decodePayload().kind.rawValue
    } catch {
      return "unknown: \(error)"
    }
  }
}
