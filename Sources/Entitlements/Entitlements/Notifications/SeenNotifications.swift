// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification
internal import Synchronization

/// Remembers which notifications were dealt with, by `notificationUUID`, so that a mail is not sent twice when
/// the App Store delivers a notification twice.
///
/// An ``EntitlementLedger`` does not need it: there, repetition changes nothing. It is for side effects. It
/// forgets the oldest when it is full, and whatever is older than its age, so it makes repetitions rare and not
/// impossible: a process that restarts has forgotten everything.
///
/// The App Store tries six times, the last time 157 hours after the first; Apple's own history and a resent
/// notification keep the same `notificationUUID`. May be used from any number of tasks and threads at once.
public final class SeenNotifications: Sendable {
  private struct Sighting {
    let uuid: String
    let at: Timestamp
    let number: UInt64
  }

  private struct State {
    /// Number of the sighting that counts for each identifier.
    var numbers: [String: UInt64] = [:]
    /// In order of arrival; those before `head` are gone.
    var sightings: [Sighting] = []
    var head = 0
    var nextNumber: UInt64 = 0
  }

  /// Longer texts are no UUIDs, and are not worth the memory.
  static let greatestIdentifierLength = 64

  /// How many are remembered at most.
  package let maximumCount: Int
  /// For how many seconds one is remembered.
  package let maximumAge: Double
  private let clock: @Sendable () -> Timestamp
  private let state = Mutex(State())

  /// Creates an empty memory.
  ///
  /// - Parameters:
  ///   - maximumCount: How many are remembered at most; 100,000 by default, which takes some 20 MB.
  ///   - maximumAge: For how many seconds; eight days by default.
  ///   - clock: The current time; the system's clock by default.
  public init(
    maximumCount: Int = 100_000, maximumAge: Double = 8 * 86_400,
    clock: @escaping @Sendable () -> Timestamp = { SystemClock.now() }
  ) {
    self.maximumCount = max(1, maximumCount)
    self.maximumAge = maximumAge
    self.clock = clock
  }

  /// Notes a notification; `true` if it was not seen before. One without a usable `notificationUUID` is never
  /// held for a repetition.
  public func insert(_ notification: AppStoreNotification) -> Bool { insert(notification.uuid) }

  /// Notes an identifier; `true` if it was not seen before.
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

  /// Takes a sighting back, because dealing with the notification failed and it shall be dealt with again.
  public func remove(_ notification: AppStoreNotification) { remove(notification.uuid) }

  /// Takes a sighting back.
  package func remove(_ uuid: UUIDString?) {
    guard let key = Self.key(uuid) else { return }
    state.withLock { $0.numbers[key] = nil }
  }

  /// How many are remembered.
  package var count: Int { state.withLock { $0.numbers.count } }

  /// Apple writes UUIDs in lower case; another spelling of the same one is the same.
  private static func key(_ uuid: UUIDString?) -> String? {
    guard let text = uuid?.rawValue, !text.isEmpty, text.utf8.count <= greatestIdentifierLength else {
      return nil
    }
    return text.lowercased()
  }

  private static func forget(_ state: inout State, before oldest: Timestamp, keeping count: Int) {
    while state.head < state.sightings.count {
      let sighting = state.sightings[state.head]
      guard sighting.at < oldest || state.sightings.count - state.head > count else { break }
      if state.numbers[sighting.uuid] == sighting.number { state.numbers[sighting.uuid] = nil }
      state.head += 1
    }
    // Each element is moved once for at least one that is dropped.
    if state.head > 64, state.head > state.sightings.count / 2 {
      state.sightings.removeFirst(state.head)
      state.head = 0
    }
  }
}
