// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension EmulatorState {
  /// One attempt to deliver a notification.
  public struct SendAttempt: Sendable, Hashable {
    /// The date.
    public var date: Timestamp
    /// `SUCCESS`, `TIMED_OUT` and so on.
    public var result: String

    /// Creates an attempt.
    public init(date: Timestamp, result: String = "SUCCESS") {
      self.date = date
      self.result = result
    }

    var json: JSONValue {
      .members(("attemptDate", .date(date)), ("sendAttemptResult", .string(result)))
    }
  }

  struct NotificationRecord: Sendable {
    var notification: Notification
    var transactionIds: [String]
    var attempts: [SendAttempt]
  }

  struct TestNotification: Sendable {
    var notification: Notification
    var attempts: [SendAttempt]
    var pendingAnswers: Int
  }

  struct MassExtension: Sendable {
    var productId: String
    var completed: Timestamp
    var succeeded: Int64
    var failed: Int64
    var pendingAnswers: Int
  }

  /// A group of roles that customers have.
  struct Group: Sendable {
    var groupType: String
    var roles: [JSONValue]
    var members: [String]
  }

  /// Retention messaging.
  struct Messaging: Sendable {
    struct Image: Sendable {
      var state: String
      var size: String
    }

    struct Message: Sendable {
      var state: String
      var imageIdentifiers: [String]
      var content: JSONValue
    }

    struct PerformanceTest: Sendable {
      var pendingAnswers: Int
    }

    static let greatestCount = 2000

    /// The state of an upload: the sandbox approves everything immediately.
    var stateOfUploads = "APPROVED"
    var images: [String: Image] = [:]
    var messages: [String: Message] = [:]
    /// The default messages, by product and locale.
    var defaults: [String: String] = [:]
    var realtimeURL: String?
    var performanceTests: [String: PerformanceTest] = [:]
    var hasPassedPerformanceTest = true
  }

  /// Adds a notification to the history.
  ///
  /// - Parameters:
  ///   - notification: The notification; its signed parts are signed, too.
  ///   - transactionIds: The purchases that it is about, for the filter.
  ///   - attempts: The attempts to deliver it.
  public mutating func add(
    notification: Notification, transactionIds: [String] = [], attempts: [SendAttempt]
  ) {
    notifications.append(
      NotificationRecord(notification: notification, transactionIds: transactionIds, attempts: attempts))
  }

  /// The state of uploaded images and messages: `PENDING`, `APPROVED` (the default) or `REJECTED`.
  public var stateOfUploads: String {
    get { messaging.stateOfUploads }
    set { messaging.stateOfUploads = newValue }
  }

  /// Whether the developer's server passed a performance test, which production requires.
  public var hasPassedPerformanceTest: Bool {
    get { messaging.hasPassedPerformanceTest }
    set { messaging.hasPassedPerformanceTest = newValue }
  }

  /// Adds a group of roles.
  public mutating func addGroup(
    _ groupId: String, type: String, roles: [(productId: String, role: String)], members: [String]
  ) {
    groups[groupId] = Group(
      groupType: type,
      roles: roles.map { .members(("productId", .string($0.productId)), ("role", .string($0.role))) },
      members: members)
  }
}
