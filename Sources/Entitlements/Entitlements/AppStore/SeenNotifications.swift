// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification
internal import Synchronization

/// A memory of processed notifications, by `notificationUUID`, that makes repeated side effects rare.
///
/// With it, a mail is not sent twice if the App Store delivers a notification twice.
///
/// An ``EntitlementLedger`` does not need it, because applying a notification is idempotent; it is for side effects. It
/// forgets the oldest notification when it is full, and every notification that exceeds the age limit. So repetitions
/// are rare but possible: a process that restarts has forgotten everything.
///
/// The App Store delivers a notification up to six times, the last time 157 hours after the first. Apple's notification
/// history and a resent notification keep the same `notificationUUID`. Any number of tasks and threads may use one
/// memory at once.
public final class SeenNotifications: Sendable {
  private struct Sighting {
    let uuid: String
    let at: Timestamp
    let number: UInt64
  }

  private struct State {
    /// The number of the valid sighting for each identifier.
    var numbers: [String: UInt64] = [:]
    /// The sightings in order of arrival; a slice, so that the first one is removed in constant time.
    var sightings: ArraySlice<Sighting> = []
    var nextNumber: UInt64 = 0
  }

  private let maximumCount: Int
  private let maximumAge: Double
  private let clock: @Sendable () -> Timestamp
  private let state = Mutex(State())

  /// Creates an empty memory.
  ///
  /// - Parameters:
  ///   - maximumCount: The largest number of notifications that are remembered; 100,000 by default, which takes about
  ///     20 MB.
  ///   - maximumAge: The time, in seconds, that a notification is remembered; eight days by default.
  ///   - clock: Returns the current time; the system's clock by default.
  public init(
    maximumCount: Int = 100_000, maximumAge: Double = 8 * 86_400,
    clock: @escaping @Sendable () -> Timestamp = { SystemClock.now() }
  ) {
    self.maximumCount = max(1, maximumCount)
    self.maximumAge = maximumAge
    self.clock = clock
  }

  /// Records a notification, and returns `true` if it was not seen before.
  ///
  /// A notification without a usable `notificationUUID` never counts as a repetition.
  public func insert(_ notification: AppStoreNotification) -> Bool { insert(notification.uuid) }

  package func insert(_ uuid: UUIDString?) -> Bool {
    guard let key = Self.key(uuid) else { return true }
    let now = clock()
    return state.withLock { state in
      Self.forget(&state, before: now.addingSeconds(-maximumAge), keeping: maximumCount)
      guard state.numbers[key] == nil else { return false }
      Self.forget(&state, before: now.addingSeconds(-maximumAge), keeping: maximumCount - 1)
      state.numbers[key] = state.nextNumber
      state.sightings.append(Sighting(uuid: key, at: now, number: state.nextNumber))
      state.nextNumber += 1
      return true
    }
  }

  /// Forgets a notification whose processing failed, so that it can be processed again.
  public func remove(_ notification: AppStoreNotification) { remove(notification.uuid) }

  package func remove(_ uuid: UUIDString?) {
    guard let key = Self.key(uuid) else { return }
    state.withLock { $0.numbers[key] = nil }
  }

  package var count: Int { state.withLock { $0.numbers.count } }

  /// Returns the UUID in lower case, as Apple writes it, so that every spelling gives the same key.
  private static func key(_ uuid: UUIDString?) -> String? {
    // A longer text is not a UUID and not worth the memory.
    guard let text = uuid?.rawValue, 1...64 ~= text.utf8.count else { return nil }
    return text.lowercased()
  }

  private static func forget(_ state: inout State, before oldest: Timestamp, keeping count: Int) {
    while let sighting = state.sightings.first, sighting.at < oldest || state.sightings.count > count {
      if state.numbers[sighting.uuid] == sighting.number { state.numbers[sighting.uuid] = nil }
      state.sightings.removeFirst()
    }
  }
}
