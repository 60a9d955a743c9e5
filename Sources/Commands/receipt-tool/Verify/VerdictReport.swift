// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import CommandOutput
import ReceiptBytes
import ReceiptCodec
import ReceiptInspection
import ReceiptVerification

enum VerdictOutput {
  case text, json
  /// The payload of a valid receipt.
  case payload
}

struct VerdictReport {
  let source: String
  let index: Int?
  let verdict: Verdict
  /// The instant at which subscriptions are evaluated: that of `--time`, or the start of the command. `nil` if the
  /// output must not depend on the clock.
  let instant: Timestamp?
  /// The key of the line, which is printed instead of `source` and `index`. The output then depends on the line alone.
  var key: String?
  var recorded: AuditAcknowledgement?

  /// The output for a line of the input: exactly one line, except in text form.
  func line(_ output: VerdictOutput, _ colors: Colors) throws -> [UInt8] {
    switch (output, verdict) {
    case (.text, _): Array(colors.painted(text()).utf8)
    case (.payload, .valid(let receipt)): try payloadLine(of: receipt)
    case (.json, _), (.payload, _): jsonLine()
    }
  }

  /// The payload on one line. A payload can contain line feeds only as white space between values.
  private func payloadLine(of receipt: VerifiedReceipt) throws -> [UInt8] {
    var line = try receipt.payloadJSON()
    for lineBreak: UInt8 in [0x0A, 0x0D] {
      var position = 0
      while let index = ByteSearch.firstIndex(of: lineBreak, in: line.span, from: position) {
        line[index] = 0x20
        position = index + 1
      }
    }
    line.append(0x0A)
    return line
  }

  func text() -> String {
    let place = key ?? index.map { "\(source):\($0)" } ?? source
    let purchases = verdict.receipt?.purchases ?? []
    let standing = instant.flatMap { purchases.standing(at: $0) }
    var report = ReportText(
      "\(Self.words(verdict.word, standing))  \(verdict.kind?.rawValue ?? "unknown format")  \(place)"
    )
    if let reason = verdict.reason {
      report.add("reason", reason.code.rawValue)
      report.add("", reason.message)
      if !reason.place.isEmpty { report.add("where", reason.place) }
    }
    func add(_ environment: ReceiptEnvironment?, isProven: Bool) {
      report.add("environment", environment.map { $0.plainName + (isProven ? "" : " (claimed, not signed)") })
    }
    if case .undetermined(let receipt) = verdict {
      add(receipt.claimedEnvironment, isProven: receipt.isEnvironmentProven)
      report.add("retry", receipt.isRetryable ? "may help" : "will not help")
    }
    if let receipt = verdict.receipt {
      report.add("app", receipt.bundleId)
      add(receipt.environment, isProven: receipt.isEnvironmentProven)
      report.add("signed", receipt.signedAt?.iso8601)
      if let date = receipt.expirationDate {
        let isExpired = instant.map { date <= $0 } == true
        report.add(isExpired ? "EXPIRED" : "expires", date.iso8601)
      }
      report.add("signer", "\(receipt.signer.subject) (\(receipt.signer.algorithm.rawValue))")
      if receipt.assurance == .pinnedTestCertificate {
        report.add("NOTE", "test data under a pinned certificate: this proves no purchase")
      }
      if case .jws(.notification(let notification)) = receipt.content {
        report.add(
          "announces",
          Self.text(notification.notificationType?.rawValue, notification.notificationType?.meaning))
        report.add("", Self.text(notification.subtype?.rawValue, notification.subtype?.meaning))
        report.add("", notification.notificationUUID?.rawValue)
      }
      for purchase in purchases where purchase.unpaidState == nil {
        report.add("transaction", purchase.text(at: instant))
      }
      report.add("renewal", receipt.renewalInfo?.text)
      if case .detached(let content) = receipt.content {
        for line in content.lines { report.add(line.name, line.value) }
        for purchase in purchases {
          guard let state = purchase.unpaidState else { continue }
          report.add("NOT PAID", "\(purchase.transactionId ?? "(no order)")  state \(state)")
        }
      }
    }
    for check in verdict.checks {
      let said = check.answer.shown
      report.add("checked", "\(check.name): \(said.word)\(said.message.map { ": \($0)" } ?? "")")
    }
    report.add("recorded", recorded.map { "entry \($0.index)\($0.isRepeat ? ", as it was before" : "")" })
    return report.text
  }

  /// The first words of a report: the verdict, and the standing of the purchases, if there are any.
  static func words(_ verdict: String, _ standing: PurchaseStanding?) -> String {
    [verdict, standing?.status.rawValue].compactMap(\.self).joined(separator: ", ").uppercased()
  }

  private static func text(_ value: String?, _ meaning: String?) -> String? {
    value.map { value in meaning.map { "\(value): \($0)" } ?? value }
  }

  func jsonLine() -> [UInt8] {
    JSONWriter.line("verdict") { object in
      object.member("key", key)
      if key == nil {
        object.member("source", source)
        object.member("index", index.map(Int64.init))
      }
      verdict.write(to: &object, at: instant)
      if let recorded { object.member("entry", recorded.index) }
      object.member("repeated", recorded?.isRepeat)
    }
  }
}

extension Purchase {
  func text(at instant: Timestamp?) -> String {
    var parts = [transaction.transactionId ?? "(no identifier)"]
    if let productId = transaction.productId { parts.append(productId) }
    if let quantity = transaction.quantity, quantity != 1 { parts.append("×\(quantity)") }
    if let original = transaction.originalTransactionId, original != transaction.transactionId {
      parts.append("original \(original)")
    }
    if let date = transaction.purchaseDate { parts.append("bought \(date.iso8601)") }
    if let date = transaction.expiresDate {
      parts.append("\(instant.map { date <= $0 } == true ? "EXPIRED" : "expires") \(date.iso8601)")
    }
    if let date = transaction.revocationDate { parts.append("REVOKED \(date.iso8601)") }
    if isUpgraded == true { parts.append("UPGRADED") }
    if let ownership = transaction.inAppOwnershipType, ownership != .purchased {
      parts.append(ownership.rawValue)
    }
    if let price = Money.text(transaction.price, transaction.currency) { parts.append(price) }
    let offer = [
      signed?.offerType.map { "\($0)" }, signed?.offerDiscountType?.rawValue, transaction.offerIdentifier,
    ]
    if offer.contains(where: { $0 != nil }) {
      parts.append("offer " + offer.compactMap { $0 }.joined(separator: " "))
    }
    if inApp?.isTrialPeriod == true { parts.append("trial period") }
    if inApp?.isInIntroOfferPeriod == true { parts.append("introductory offer period") }
    if let account = signed?.appAccountToken { parts.append("account \(account.rawValue)") }
    if let instant { parts.append(standing(at: instant).text) }
    return parts.joined(separator: "  ")
  }
}

extension JWSRenewalInfo {
  var text: String {
    let status: String? =
      switch autoRenewStatus {
      case .on: "renews"
      case .off: "does NOT renew"
      default: nil
      }
    let parts = [
      status, autoRenewProductId, renewalDate.map { "on \($0.iso8601)" },
      Money.text(renewalPrice, currency).map { "for \($0)" },
      isInBillingRetryPeriod == true ? "IN BILLING RETRY" : nil,
      gracePeriodExpiresDate.map { "grace period until \($0.iso8601)" },
      expirationIntent.map { "expired: \($0)" },
    ]
    return parts.compactMap(\.self).joined(separator: "  ")
  }
}

extension DetachedContent {
  var lines: [(name: String, value: String)] {
    switch self {
    case .googlePlayLicense(let license):
      return [
        ("licence", "\(license.responseCode)"), ("nonce", String(license.nonce)), ("user", license.userId),
        ("valid until", license.validUntil?.iso8601 ?? "(not stated)"),
      ]
    case .googlePlayPurchase, .googlePlayOrders, .huaweiPurchase:
      return obfuscatedAccountId.map { [("account", $0)] } ?? []
    }
  }
}

extension PurchaseStanding {
  /// The standing and what says so, such as `refunded since 2026-01-02T03:04:05.000Z (receipt)`.
  fileprivate var text: String {
    let dates = [since.map { " since \($0.iso8601)" }, until.map { " until \($0.iso8601)" }]
    return "\(status.rawValue)\(dates.compactMap(\.self).joined()) (\(source.rawValue))"
  }
}
