// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptVerification
import Storefront

/// The settings of a store in its folder: `store.json`.
struct StoreSettings: JSONObject {
  /// The app.
  var bundleId = "com.example.app"
  var environment = ReceiptEnvironment.sandbox
  /// The three-letter country code.
  var storefront = "USA"
  /// Whether each purchase needs approval.
  var asks = false
  /// The grace period of failed renewals in days; `nil` for none.
  var gracePeriodDays: Int64?
  /// The seed of identifiers.
  var seed: Int64 = 0
  /// The offset of the store's clock from the wall clock, in milliseconds.
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
