// SPDX-License-Identifier: Apache-2.0

#if Server
  import NIOCore
  @testable import ReceiptService
  import Testing

  /// The instants at which a client is late, without a channel.
  @Suite struct RequestDeadlineTests {
    private typealias Action = RequestDeadline.Action

    private static func at(_ seconds: Double) -> NIODeadline {
      .uptimeNanoseconds(UInt64(seconds * 1_000_000_000))
    }

    /// The deadline of ten seconds of a connection that was opened at 100 s.
    private static func opened() -> RequestDeadline {
      var deadline = RequestDeadline(.seconds(10))
      #expect(deadline.opened(at: at(100)) == .look(at: at(110)))
      return deadline
    }

    /// The deadline of a connection with a request that is being answered since 100 s.
    private static func requested() -> RequestDeadline {
      var deadline = opened()
      deadline.receivedHead(at: at(100))
      deadline.receivedEnd(at: at(100))
      return deadline
    }

    private static func isClosed(
      _ deadline: RequestDeadline, at seconds: Double, unsent: Int64 = 0
    ) -> Bool {
      var deadline = deadline
      return deadline.look(at: at(seconds), unsentByteCount: unsent) == .close
    }

    @Test func aClientThatSendsNothingIsLateAtTheDeadline() {
      var deadline = Self.opened()
      #expect(deadline.look(at: Self.at(109.999), unsentByteCount: 0) == .look(at: Self.at(110)))
      #expect(deadline.look(at: Self.at(110), unsentByteCount: 0) == .close)
    }

    @Test func sixteenKibibytesGiveASecond() {
      var deadline = Self.opened()
      deadline.receivedHead(at: Self.at(100))
      deadline.receivedBody(16 << 10, at: Self.at(105))
      #expect(!Self.isClosed(deadline, at: 110.999))
      #expect(Self.isClosed(deadline, at: 111))
    }

    @Test func bytesGiveNoTimeInAdvance() {
      var deadline = Self.opened()
      deadline.receivedHead(at: Self.at(100))
      deadline.receivedBody(1 << 30, at: Self.at(105))
      #expect(!Self.isClosed(deadline, at: 114.999))
      #expect(Self.isClosed(deadline, at: 115))
    }

    @Test func noTimePassesWhileTheServerReadsNothing() {
      var deadline = Self.opened()
      deadline.receivedHead(at: Self.at(100))
      deadline.stoppedReading(at: Self.at(103))
      // The first of them counts.
      deadline.stoppedReading(at: Self.at(200))
      #expect(!Self.isClosed(deadline, at: 1000))
      #expect(!deadline.mustYield(at: Self.at(1000)))
      deadline.wantsMore(at: Self.at(1003))
      #expect(!Self.isClosed(deadline, at: 1009.999))
      #expect(Self.isClosed(deadline, at: 1010))
    }

    @Test func theServerMayTakeAnyTimeToAnswer() {
      var deadline = Self.requested()
      #expect(deadline.look(at: Self.at(10_000), unsentByteCount: 0) == .look(at: Self.at(10_002.5)))
      #expect(!deadline.mustYield(at: Self.at(10_000)))
      deadline.answered(at: Self.at(10_001))
      #expect(deadline.look(at: Self.at(10_002.5), unsentByteCount: 0) == .look(at: Self.at(10_011)))
      #expect(Self.isClosed(deadline, at: 10_011))
    }

    @Test func timeBeginsWhenTheLastAnswerIsRead() {
      var deadline = Self.requested()
      deadline.receivedHead(at: Self.at(101))
      deadline.receivedEnd(at: Self.at(101))
      deadline.answered(at: Self.at(102))
      #expect(!Self.isClosed(deadline, at: 1000))
      deadline.answered(at: Self.at(1000))
      #expect(Self.isClosed(deadline, at: 1010))
    }

    @Test func aClientReadsAKibibyteForEachSecond() {
      var deadline = Self.requested()
      deadline.wrote(100 << 10)
      // Progress counts from the first look at which bytes wait.
      #expect(deadline.look(at: Self.at(110), unsentByteCount: 100 << 10) == .look(at: Self.at(112.5)))
      #expect(!Self.isClosed(deadline, at: 119.999, unsent: 90 << 10 | 1))
      #expect(Self.isClosed(deadline, at: 120, unsent: 90 << 10 | 1))
      #expect(!Self.isClosed(deadline, at: 120, unsent: 90 << 10))
      // Nothing waits any more.
      #expect(!Self.isClosed(deadline, at: 120))
    }

    @Test func anIdleConnectionYieldsAfterASecond() {
      let deadline = Self.opened()
      #expect(!deadline.mustYield(at: Self.at(100.999)))
      #expect(deadline.mustYield(at: Self.at(101)))
      #expect(!Self.requested().mustYield(at: Self.at(200)))
    }
  }
#endif
