// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptBytes
  internal import Synchronization

  /// Limits the requests with publishable keys that one address sends to this process.
  ///
  /// Everybody who has the app has such a key, so requests cannot be counted by the key.
  final class ClientRateLimit: Sendable {
    /// The state of the limit for an address, after a request was counted.
    struct Allowance: Sendable, Hashable {
      let limit: Int
      let remaining: Int
    }

    /// The error for an address that has exhausted its limit: the seconds after which to try again.
    struct Exceeded: Error, Hashable {
      let limit: Int
      let retryAfter: Int
    }

    private struct Bucket {
      var room: Double
      var refilled: ContinuousClock.Instant
    }

    /// The maximum number of addresses that are remembered.
    private static let maximumAddressCount = 100_000

    /// A whole request, less what additions of its parts lose.
    private static let one = 1 - 1e-9

    private let burst: Int
    /// The number of requests that each second adds; 0 for no limit.
    private let rate: Int
    private let buckets = Mutex<[String: Bucket]>([:])

    init(burst: Int, rate: Int) {
      self.burst = burst
      self.rate = rate
    }

    /// The number of addresses that are remembered.
    var addressCount: Int { buckets.withLock { $0.count } }

    /// Counts a request from an address; `nil` if there is no limit.
    func count(
      from address: String, at now: ContinuousClock.Instant = .now
    ) throws(Exceeded) -> Allowance? {
      guard rate > 0 else { return nil }
      let network = Self.network(of: address)
      let room = buckets.withLock { buckets in
        if buckets.count >= Self.maximumAddressCount, buckets[network] == nil { forget(&buckets, at: now) }
        var bucket = buckets[network] ?? Bucket(room: Double(burst), refilled: now)
        bucket.room = min(Double(burst), bucket.room + (now - bucket.refilled) / .seconds(1) * Double(rate))
        bucket.refilled = now
        let room = bucket.room
        if room >= Self.one { bucket.room -= 1 }
        buckets[network] = bucket
        return room
      }
      guard room >= Self.one else {
        throw Exceeded(limit: burst, retryAfter: Int(((1 - room) / Double(rate)).rounded(.up)))
      }
      return Allowance(limit: burst, remaining: Int(room + (1 - Self.one)) - 1)
    }

    /// Gives a request back that was counted, because it is counted again in another place.
    func giveBack(to address: String) {
      let network = Self.network(of: address)
      buckets.withLock { $0[network]?.room += 1 }
    }

    /// Forgets the addresses that have used least of their limit: half of them at least.
    private func forget(_ buckets: inout [String: Bucket], at now: ContinuousClock.Instant) {
      func room(_ bucket: Bucket) -> Double {
        bucket.room + (now - bucket.refilled) / .seconds(1) * Double(rate)
      }
      let median = buckets.values.map(room).sorted()[buckets.count / 2]
      buckets = buckets.filter { room($0.value) < median }
    }

    /// Returns the network of an IPv6 address, because a client has many such addresses, and an IPv4 address as it is.
    static func network(of address: String) -> String {
      guard address.contains(":"), let parsed = IPAddress.resolve(address, isNumeric: true).first,
        parsed.bytes.count == 16
      else { return address }
      let isMapped = parsed.bytes.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
      if isMapped { return parsed.bytes.suffix(4).map { String($0) }.joined(separator: ".") }
      return parsed.bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }
  }
#endif
