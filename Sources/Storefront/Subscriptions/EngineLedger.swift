// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The state of an engine besides its subscriptions.
package struct EngineLedger: Sendable, Hashable {
  /// The engine's current time; nothing happens before it.
  package var time = Timestamp(millisecondsSince1970: 0)
  /// The number of transactions, from which identifiers are derived.
  package var transactionCount: Int64 = 0
  /// The number of events.
  package var eventCount: Int64 = 0
  /// The number of times that a transaction was made or changed, by which histories are sorted.
  package var modificationCount: Int64 = 0
  /// Prices that differ from the catalogue's.
  package var prices: [ProductPrice] = []
  /// Products that are no longer for sale.
  package var removedProducts: [String] = []
  /// The families.
  package var families: [Family] = []
  /// Accounts whose charges fail, regardless of the billing policy.
  package var declinedAccounts: [String] = []
  package var unknownFields: [JSONMember] = []

  package init() {}

  package struct ProductPrice: JSONObject, Sendable, Hashable {
    package var productIdentifier = ""
    package var price: Int64 = 0
    package var unknownFields: [JSONMember] = []
    package init() {}

    package enum Field: String, CaseIterable, Sendable { case productIdentifier, price }
    package static let fieldNames = JSONFieldNames<Field>()
    package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt)
    {
      switch field {
      case .productIdentifier: try coder.code(&productIdentifier)
      case .price: try coder.code(&price)
      }
    }
  }

  package struct Family: JSONObject, Sendable, Hashable {
    package var members: [String] = []
    package var unknownFields: [JSONMember] = []
    package init() {}

    package enum Field: String, CaseIterable, Sendable { case members }
    package static let fieldNames = JSONFieldNames<Field>()
    package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt)
    {
      switch field {
      case .members: try coder.code(&members)
      }
    }
  }
}

extension EngineLedger: JSONObject {
  package enum Field: String, CaseIterable, Sendable {
    case time, transactionCount, eventCount, modificationCount, prices, removedProducts, families,
      declinedAccounts
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.time, .transactionCount, .eventCount])

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .time: try coder.code(&time)
    case .transactionCount: try coder.code(&transactionCount)
    case .eventCount: try coder.code(&eventCount)
    case .modificationCount: try coder.code(&modificationCount)
    case .prices: try coder.code(&prices)
    case .removedProducts: try coder.code(&removedProducts)
    case .families: try coder.code(&families)
    case .declinedAccounts: try coder.code(&declinedAccounts)
    }
  }
}
