// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// ``SubscriptionTerms`` as JSON.
struct WireSubscriptionTerms: WireForm {
  var groupIdentifier = ""
  var level: Int64 = 1
  var period = WirePeriod.unread
  var offers: [WireSubscriptionOffer]?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case groupIdentifier, level, period, offers }
  static let fieldNames = JSONFieldNames<Field>(required: [.groupIdentifier, .level, .period])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .groupIdentifier: try coder.code(&groupIdentifier)
    case .level: try coder.code(&level)
    case .period: try coder.code(&period)
    case .offers: try coder.code(&offers)
    }
  }
}

extension WireSubscriptionTerms {
  init(_ value: SubscriptionTerms) {
    groupIdentifier = value.groupIdentifier
    level = Int64(value.level)
    period = WirePeriod(value.period)
    offers = value.offers.isEmpty ? nil : value.offers.map { WireSubscriptionOffer($0) }
  }

  var value: SubscriptionTerms {
    SubscriptionTerms(
      groupIdentifier: groupIdentifier, level: Int(clamping: level), period: period.period,
      offers: (offers ?? []).map(\.value))
  }
}

/// A ``SubscriptionOffer`` as JSON, without its codes: anyone who knows a code may redeem it.
struct WireSubscriptionOffer: WireForm {
  var type = OfferType(rawValue: 0)
  var identifier: String?
  var paymentMode = OfferDiscountType(rawValue: "")
  var period = WirePeriod.unread
  var periodCount: Int64 = 1
  var price = WireDecimal.zero
  var eligibility: [String] = []
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case type, identifier, paymentMode, period, periodCount, price, eligibility
  }
  static let fieldNames = JSONFieldNames<Field>(required: [
    .type, .paymentMode, .period, .periodCount, .price, .eligibility,
  ])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .type: try coder.code(&type)
    case .identifier: try coder.code(&identifier)
    case .paymentMode: try coder.code(&paymentMode)
    case .period: try coder.code(&period)
    case .periodCount: try coder.code(&periodCount)
    case .price: try coder.code(&price)
    case .eligibility: try coder.code(&eligibility)
    }
  }
}

extension WireSubscriptionOffer {
  init(_ value: SubscriptionOffer) {
    type = value.type
    identifier = value.identifier
    paymentMode = value.paymentMode
    period = WirePeriod(value.period)
    periodCount = Int64(value.periodCount)
    price = WireDecimal(value.price)
    eligibility = value.eligibility.map(\.rawValue).sorted()
  }

  var value: SubscriptionOffer {
    SubscriptionOffer(
      type: type, identifier: identifier, paymentMode: paymentMode, period: period.period,
      periodCount: Int(clamping: periodCount), price: price.decimal,
      eligibility: Set(eligibility.map { SubscriptionOffer.Eligibility(rawValue: $0) }))
  }
}
