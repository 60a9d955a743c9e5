// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The JSON of `verifyReceipt`: nearly all values are strings, and each date has three formats.
struct ReceiptAnswerWriter {
  let now: Timestamp

  func receipt(_ payload: AppReceiptPayload) -> JSONValue {
    var members: [JSONMember] = []
    func add(_ name: String, _ value: JSONValue?) {
      if let value { members.append(JSONMember(name: name, value: value)) }
    }
    add("receipt_type", payload.environment.map { .string($0.rawValue) })
    add("adam_id", .integer(payload.appAppleId ?? 0))
    add("app_item_id", .integer(payload.appAppleId ?? 0))
    add("bundle_id", payload.bundleId.map { .string($0) })
    add("application_version", payload.applicationVersion.map { .string($0) })
    add("download_id", payload.downloadId.map { .integer($0) })
    add("version_external_identifier", .integer(0))
    members += Self.date("receipt_creation_date", payload.receiptCreationDate)
    members += Self.date("request_date", now)
    members += Self.date("original_purchase_date", payload.originalPurchaseDate)
    members += Self.date("expiration_date", payload.expirationDate)
    add("original_application_version", payload.originalApplicationVersion.map { .string($0) })
    add("in_app", .array(payload.inAppPurchases.map { purchase($0, details: [:]) }))
    return .object(members)
  }

  /// One purchase; `details` has information that is not in a receipt, by transaction identifier.
  func purchase(_ purchase: InAppPurchase, details: [String: JWSTransaction]) -> JSONValue {
    let detail = purchase.transactionId.flatMap { details[$0] }
    var members: [JSONMember] = []
    func add(_ name: String, _ value: String?) {
      if let value { members.append(JSONMember(name: name, value: .string(value))) }
    }
    add("quantity", String(purchase.quantity ?? 1))
    add("product_id", purchase.productId)
    add("transaction_id", purchase.transactionId)
    add("original_transaction_id", purchase.originalTransactionId)
    members += Self.date("purchase_date", purchase.purchaseDate)
    members += Self.date("original_purchase_date", purchase.originalPurchaseDate)
    members += Self.date("expires_date", purchase.expiresDate)
    members += Self.date("cancellation_date", purchase.cancellationDate)
    if purchase.cancellationDate != nil {
      add("cancellation_reason", detail?.revocationReason == .issue ? "1" : "0")
    }
    if let identifier = purchase.webOrderLineItemId, identifier != 0 {
      add("web_order_line_item_id", String(identifier))
    }
    if purchase.isSubscription {
      add("is_trial_period", purchase.isTrialPeriod == true ? "true" : "false")
      add("is_in_intro_offer_period", purchase.isInIntroOfferPeriod == true ? "true" : "false")
    }
    add("is_upgraded", detail?.isUpgraded == true ? "true" : nil)
    add("promotional_offer_id", purchase.promotionalOfferId)
    add("subscription_group_identifier", detail?.subscriptionGroupIdentifier)
    add("app_account_token", detail?.appAccountToken?.rawValue)
    add("in_app_ownership_type", (detail?.inAppOwnershipType ?? .purchased).rawValue)
    return .object(members)
  }

  func renewal(_ renewal: JWSRenewalInfo) -> JSONValue {
    var members: [JSONMember] = []
    func add(_ name: String, _ value: String?) {
      if let value { members.append(JSONMember(name: name, value: .string(value))) }
    }
    add("product_id", renewal.productId)
    add("auto_renew_product_id", renewal.autoRenewProductId)
    add("original_transaction_id", renewal.originalTransactionId)
    add("auto_renew_status", renewal.autoRenewStatus == .on ? "1" : "0")
    add("expiration_intent", renewal.expirationIntent.map { String($0.rawValue) })
    add("is_in_billing_retry_period", renewal.isInBillingRetryPeriod.map { $0 ? "1" : "0" })
    add("price_increase_status", renewal.priceIncreaseStatus.map { String($0.rawValue) })
    members += Self.date("grace_period_expires_date", renewal.gracePeriodExpiresDate)
    return .object(members)
  }

  /// A date in UTC, in milliseconds as a string, and in Pacific time.
  static func date(_ name: String, _ instant: Timestamp?) -> [JSONMember] {
    guard let instant else { return [] }
    let seconds = Int64(instant.wholeMilliseconds / 1000)
    let pacific = seconds + Int64(PacificTime.offset(atSecondsSince1970: seconds))
    return [
      JSONMember(name: name, value: .string("\(text(seconds)) Etc/GMT")),
      JSONMember(name: "\(name)_ms", value: .string(String(instant.wholeMilliseconds))),
      JSONMember(name: "\(name)_pst", value: .string("\(text(pacific)) America/Los_Angeles")),
    ]
  }

  private static func text(_ seconds: Int64) -> String {
    String(
      decoding: CivilDateTime(secondsSince1970: seconds).text(separator: UInt8(ascii: " ")), as: UTF8.self)
  }
}

/// Pacific time. Since 2007, daylight saving time lasts from the second Sunday of March to the first Sunday of
/// November; from 1987 on it lasted from the first Sunday of April to the last of October.
enum PacificTime {
  private static let standard = -8 * 3600
  private static let daylight = -7 * 3600

  static func offset(atSecondsSince1970 seconds: Int64) -> Int {
    let year = CivilDateTime(secondsSince1970: seconds).year
    let isRecent = year >= 2007
    guard year >= 1987,
      let march = firstSunday(year, isRecent ? 3 : 4, from: isRecent ? 8 : 1),
      let november = firstSunday(year, isRecent ? 11 : 10, from: isRecent ? 1 : 25)
    else { return standard }
    // Clocks change at 2:00 in the time before the change.
    let begin = march + Int64(2 * 3600 - standard)
    let end = november + Int64(2 * 3600 - daylight)
    return begin..<end ~= seconds ? daylight : standard
  }

  private static func firstSunday(_ year: Int, _ month: Int, from day: Int) -> Int64? {
    guard let date = CivilDateTime(year: year, month: month, day: day)?.secondsSince1970 else { return nil }
    // 1970-01-01 was a Thursday, three days before a Sunday.
    let dayOfWeek = ((date / 86_400 - 3) % 7 + 7) % 7
    return date + (7 - dayOfWeek) % 7 * 86_400
  }
}
