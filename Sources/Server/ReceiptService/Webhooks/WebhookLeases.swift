// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec

  /// The leases of an endpoint's due lanes, one after another: see ``WebhookQueue``.
  ///
  /// It has no database: ``WebhookQueue`` reads for it what it asks for, and performs the actions.
  struct LeaseRound {
    enum Action: Hashable {
      /// Go on, because the lane was leased in this round.
      case goOn
      /// Remove the lane, because nothing waits in it.
      case close
      /// Look at the lane again at this time: its first delivery waits for another lane.
      case wait(until: Timestamp)
      /// Lease the lanes of a delivery, and deliver it.
      case lease(WaitingDelivery)
    }

    /// The longest time, in seconds, before a lane that waits for another one is checked again.
    ///
    /// The other lane's delivery cannot wake it while its row is locked.
    private static let longestWait: Double = 30

    let now: Timestamp
    private var leased: Set<String> = []

    init(at now: Timestamp) { self.now = now }

    /// Decides on a due lane.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - first: Reads the first waiting delivery of a lane.
    ///   - freeTime: Reads when another lane is due and not leased; `nil` if another transaction holds it.
    /// - Returns: The action to perform.
    /// - Throws: The errors of reading.
    mutating func action(
      on lane: String, first: (String) throws -> WaitingDelivery?, freeTime: (String) throws -> Timestamp?
    ) rethrows -> Action {
      guard !leased.contains(lane) else { return .goOn }
      guard let delivery = try first(lane) else { return .close }
      for other in delivery.lanes where other != lane {
        let free = try freeTime(other)
        if let free, free > now { return .wait(until: min(free, now.addingSeconds(Self.longestWait))) }
        // The end of the previous delivery wakes this lane. The second of delay is for the case that both end at once.
        guard free != nil, try first(other) == delivery else { return .wait(until: now.addingSeconds(1)) }
      }
      leased.formUnion(delivery.lanes)
      return .lease(delivery)
    }
  }

  /// The outcome of an attempt.
  enum LeaseEnding: Sendable, Hashable {
    /// Remove the delivery, which the endpoint took.
    case complete
    /// Store the failure, and try again at this time.
    case retry(at: Timestamp, error: String, attempts: Int)
    /// Store the failure, and make the delivery a dead letter.
    case giveUp(error: String, attempts: Int)
    /// Try again, as if there had been no attempt.
    case release

    /// - Parameters:
    ///   - outcome: The outcome of the attempt.
    ///   - attempts: The number of attempts before it.
    ///   - now: The current time.
    ///   - random: A number from 0 to 1 that spreads the attempts after a failure.
    init(of outcome: WebhookQueue.Outcome, after attempts: Int, at now: Timestamp, random: Double) {
      switch outcome {
      case .delivered: self = .complete
      case .interrupted: self = .release
      case .dead(let error): self = .giveUp(error: error, attempts: attempts + 1)
      case .failed(let error, let retryAfter):
        let delay = WebhookQueue.delay(afterAttempt: attempts, until: retryAfter, now: now, random: random)
        self =
          if let delay {
            .retry(at: now.addingSeconds(delay), error: error, attempts: attempts + 1)
          } else {
            .giveUp(error: error, attempts: attempts + 1)
          }
      }
    }
  }

  /// The running deliveries of a process, at most as many for each endpoint.
  struct RunningDeliveries<Endpoint: Hashable & Sendable>: Sendable {
    /// The maximum number of running deliveries of an endpoint.
    private let share: Int
    private var counts: [Endpoint: Int] = [:]

    init(share: Int) { self.share = share }

    /// The number of deliveries to an endpoint that may begin.
    func free(of endpoint: Endpoint) -> Int { share - counts[endpoint, default: 0] }

    mutating func begin(_ endpoint: Endpoint) { counts[endpoint, default: 0] += 1 }

    mutating func end(_ endpoint: Endpoint) { counts[endpoint, default: 0] -= 1 }
  }
#endif
