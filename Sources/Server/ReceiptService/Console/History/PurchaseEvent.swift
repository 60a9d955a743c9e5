// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec

  /// An event in the life of a customer's purchases, such as a renewal or a refund.
  struct PurchaseEvent: Sendable {
    /// The time at which it happened: that of the store, or that of this server if the store states none.
    var time: Timestamp
    /// `true` if ``time`` is only the time at which this server learned of the event.
    var isTimeOfArrival: Bool
    /// The time at which this server learned of it; `nil` if that is not known.
    var heard: Timestamp?
    /// The event, in a word or two.
    var what: String
    /// A class of the style sheet: `good`, `bad`, `doubtful` or none.
    let style: String
    var product: String?
    /// The original transaction, the purchase token or the grant.
    var purchase: String?
    /// The audit entry that has the store's statement.
    var entry: UInt64?
  }

  /// A paid period, or the whole time of a purchase that does not expire.
  struct AccessPeriod: Sendable {
    let product: String
    let purchase: String
    let start: Timestamp
    /// The end of the period; `nil` if it has none.
    let end: Timestamp?
    /// The time at which the purchase was taken back; `nil` if it was not.
    let takenBack: Timestamp?
    /// The time at which the store signed this version of the purchase. The latest version counts.
    let signed: Timestamp?
    /// `true` if the period is followed by another one unless it expires.
    let renews: Bool
  }
#endif
