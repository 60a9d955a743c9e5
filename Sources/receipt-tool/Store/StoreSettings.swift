// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptVerification
import Storefront

/// What a store's folder says of it: `store.json`.
struct StoreSettings: JSONObject {
  /// The app that is sold for.
  var bundleId = "com.example.app"
  var environment = ReceiptEnvironment.sandbox
  /// A country by three letters.
  var storefront = "USA"
  /// Whether somebody has to approve each purchase.
  var asks = false
  /// For how many days service goes on when a renewal cannot be charged for; `nil` for none.
  var gracePeriodDays: Int64?
  /// What identifiers come of.
  var seed: Int64 = 0
  /// How far the store's clock is ahead of the time of day, in milliseconds; behind it where negative.
  var clockOffset: Double = 0
  var unknownFields: [JSONMember] = []

  init() {}

  init(decoding json: [UInt8]) throws(MalformedReceipt) {
    try self.init(json: json, part: "store settings", limits: .standard)
  }

  /// The store's clock.
  var clock: @Sendable () -> Timestamp {
    { [clockOffset] in SystemClock.now().addingSeconds(clockOffset / 1000) }
  }

  func options() -> LocalStore.Options {
    var engine = SubscriptionEngine.Options(bundleIdentifier: bundleId)
    engine.environment = environment
    engine.storefront = storefront
    engine.seed = UInt64(bitPattern: seed)
    engine.gracePeriodDays = gracePeriodDays.map { Int($0) }
    var options = LocalStore.Options(engine: engine)
    options.authorization = asks ? .ask : .approve
    return options
  }

  func encoded() -> [UInt8] { encodedJSON() + [UInt8(ascii: "\n")] }

  enum Field: String, CaseIterable {
    case bundleId, environment, storefront, asks, gracePeriodDays, seed, clockOffset
  }
  static let fieldNames = JSONFieldNames<Field>(required: [.bundleId, .environment, .seed])
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .bundleId: try coder.code(&bundleId)
    case .environment: try coder.code(&environment)
    case .storefront: try coder.code(&storefront)
    case .asks: try coder.code(&asks)
    case .gracePeriodDays: try coder.code(&gracePeriodDays)
    case .seed: try coder.code(&seed)
    case .clockOffset: try coder.code(&clockOffset)
    }
  }
}
