// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import Synchronization

/// The state of an emulated App Store besides purchases, customers and notifications.
package struct EmulatorState: Sendable {
  /// The developer's notification URL, if any.
  package var notificationURL: String?
  /// The number of status requests that are answered as pending for each asynchronous operation: test notification,
  /// mass extension or performance test.
  package var pendingAnswers = 0
  /// The state of uploaded images and messages: `PENDING`, `APPROVED` or `REJECTED`. The sandbox approves everything
  /// immediately.
  package var stateOfUploads = "APPROVED"
  /// `true` if the developer's server passed a performance test, which production requires.
  package var hasPassedPerformanceTest = true
  var testNotifications: [String: (number: Int64, pendingAnswers: Int)] = [:]
  var massExtensions: [String: MassExtension] = [:]
  var messaging = Messaging()
  /// The groups of roles that customers have, by identifier.
  var groups: [String: SeedGroup] = [:]
  /// The received reports, by identifier in lower case.
  var externalPurchaseReports: [String: ExternalPurchaseReport] = [:]
  /// The developer's requests to the Advanced Commerce API, as JSON.
  package internal(set) var advancedCommerceRequests: [JSONMembers] = []

  /// The initial notification URL, which a reset restores.
  let defaultNotificationURL: String?

  /// Creates an empty state with a notification URL.
  package init(notificationURL: String? = nil) {
    self.notificationURL = notificationURL
    defaultNotificationURL = notificationURL
  }

  /// Retention messaging.
  struct Messaging: Sendable {
    static let greatestCount = 2000

    var images: [String: (state: String, size: String)] = [:]
    var messages: [String: (state: String, imageIdentifiers: [String])] = [:]
    /// The default messages, by product and locale.
    var defaults: [String: String] = [:]
    var realtimeURL: String?
    /// The number of remaining results that are answered as pending, by the identifier of the test.
    var performanceTests: [String: Int] = [:]
  }
}

/// A value that several tasks read and change. Changes are atomic and do not overlap.
package final class Shared<State: Sendable>: Sendable {
  private let state: Mutex<State>

  package init(_ state: State) { self.state = Mutex(state) }

  /// Reads or changes the state. If the closure throws, its earlier changes are kept.
  package func withState<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try state.withLock { state in try body(&state) }
  }
}
