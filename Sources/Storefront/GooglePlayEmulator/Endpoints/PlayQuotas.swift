// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import Synchronization

/// Counts requests by the buckets of Google's quotas. The period is one minute, and 30 seconds for voided purchases.
final class PlayQuotas: Sendable {
  enum Bucket: String, CaseIterable, Sendable {
    case subscriptions
    case subscriptionUpdates = "subscription-updates"
    case oneTimePurchases = "one-time-purchases"
    case orders
    case voidedPurchases = "voided-purchases"

    /// Google's limit: the number of requests that are answered in a period, and its seconds.
    var standard: (count: Int, seconds: Double) {
      self == .voidedPurchases ? (30, 30) : (3000, 60)
    }
  }

  private struct Window {
    var limit: Int?
    var start = Timestamp(millisecondsSince1970: 0)
    var count = 0
  }

  private let windows = Mutex<[Bucket: Window]>([:])

  /// Counts a request.
  ///
  /// - Throws: ``PlayError`` with status 429 or 403 if the limit is exceeded.
  func count(_ bucket: Bucket, at now: Timestamp) throws(PlayError) {
    let isWithin = windows.withLock { windows in
      var window = windows[bucket] ?? Window()
      let (count, seconds) = bucket.standard
      if now >= window.start.addingSeconds(seconds) || now < window.start {
        window.start = now
        window.count = 0
      }
      window.count += 1
      windows[bucket] = window
      return window.count <= window.limit ?? count
    }
    guard isWithin else { throw .quotaExceeded(bucket) }
  }

  /// Sets a limit and resets the count; `nil` restores Google's limit.
  func setLimit(_ limit: Int?, of bucket: Bucket) {
    windows.withLock { $0[bucket] = Window(limit: limit) }
  }
}
