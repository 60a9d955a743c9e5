// SPDX-License-Identifier: Apache-2.0

#if Server
  import ReceiptCodec
  @testable import ReceiptService
  import Testing

  /// The decisions about the leases of webhooks, without a database and without a channel.
  @Suite struct WebhookLeasesTests {
    private static let now = Timestamp(millisecondsSince1970: 1_000_000)

    /// The waiting deliveries, and the other lanes: when each is free, or `nil` if another transaction holds it.
    private struct Lanes {
      var deliveries: [WaitingDelivery]
      var free: [String: Timestamp?] = [:]

      func first(of lane: String) -> WaitingDelivery? {
        deliveries.filter { $0.lanes.contains(lane) }.min { $0.change < $1.change }
      }

      func actions(on due: String...) -> [LeaseRound.Action] {
        var round = LeaseRound(at: WebhookLeasesTests.now)
        return due.map { round.action(on: $0, first: first) { free[$0, default: WebhookLeasesTests.now] } }
      }
    }

    private static func delivery(_ change: Int64, _ lanes: String...) -> WaitingDelivery {
      WaitingDelivery(change: change, lanes: lanes)
    }

    @Test func theFirstOfALaneIsLeasedAndAnEmptyLaneIsClosed() {
      let lanes = Lanes(deliveries: [Self.delivery(2, "a"), Self.delivery(1, "a"), Self.delivery(3, "b")])
      #expect(
        lanes.actions(on: "a", "b", "c")
          == [.lease(Self.delivery(1, "a")), .lease(Self.delivery(3, "b")), .close])
    }

    @Test func aTransferTakesBothLanes() {
      let transfer = Self.delivery(1, "b", "a")
      let lanes = Lanes(deliveries: [transfer, Self.delivery(2, "a")])
      #expect(lanes.actions(on: "a", "b") == [.lease(transfer), .goOn])
    }

    @Test func aTransferWaitsForWhatIsBeforeItInTheOtherLane() {
      var lanes = Lanes(deliveries: [Self.delivery(2, "b", "a"), Self.delivery(1, "a")])
      let later = { (seconds: Double) in [LeaseRound.Action.wait(until: Self.now.addingSeconds(seconds))] }
      #expect(lanes.actions(on: "b") == later(1))
      lanes.free["a"] = Self.now.addingSeconds(7)
      #expect(lanes.actions(on: "b") == later(7))
      lanes.free["a"] = Self.now.addingSeconds(7000)
      #expect(lanes.actions(on: "b") == later(30))
      lanes.deliveries.removeLast()
      lanes.free["a"] = Timestamp?.none
      #expect(lanes.actions(on: "b") == later(1))
      lanes.free["a"] = Self.now
      #expect(lanes.actions(on: "b") == [.lease(Self.delivery(2, "b", "a"))])
    }

    @Test func anOutcomeRemovesADeliveryOrTriesItAgainUntilTheLastAttempt() {
      func ending(_ outcome: WebhookQueue.Outcome, after attempts: Int) -> LeaseEnding {
        LeaseEnding(of: outcome, after: attempts, at: Self.now, random: 0.5)
      }
      #expect(ending(.delivered, after: 0) == .complete)
      #expect(ending(.interrupted, after: 9) == .release)
      #expect(ending(.dead("gone"), after: 0) == .giveUp(error: "gone", attempts: 1))
      for (attempts, delay) in WebhookQueue.delays.enumerated() {
        #expect(
          ending(.failed("no"), after: attempts)
            == .retry(at: Self.now.addingSeconds(delay), error: "no", attempts: attempts + 1))
      }
      #expect(
        ending(.failed("no", retryAfter: Self.now.addingSeconds(60)), after: 0)
          == .retry(at: Self.now.addingSeconds(60), error: "no", attempts: 1))
      let last = WebhookQueue.delays.count
      #expect(ending(.failed("no"), after: last) == .giveUp(error: "no", attempts: last + 1))
    }

    @Test func eachEndpointHasItsShare() {
      var running = RunningDeliveries<String>(share: 2)
      running.begin("a")
      running.begin("a")
      #expect(running.free(of: "a") == 0 && running.free(of: "b") == 2)
      running.end("a")
      #expect(running.free(of: "a") == 1)
    }
  }
#endif
