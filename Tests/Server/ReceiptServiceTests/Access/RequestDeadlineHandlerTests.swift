// SPDX-License-Identifier: Apache-2.0

#if Server
  import HTTPTypes
  import NIOCore
  import NIOEmbedded
  import NIOHTTPTypes
  @testable import ReceiptService
  import Testing

  /// For how long clients may keep the server waiting. The time is the test's.
  @Suite struct RequestDeadlineHandlerTests {
    /// Stands for the socket: takes bytes when it is flushed, one write at a time.
    private final class Encoder: ChannelOutboundHandler {
      typealias OutboundIn = HTTPResponsePart
      typealias OutboundOut = ByteBuffer

      func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let bytes = if case .body(let bytes) = unwrapOutboundIn(data) { bytes } else { ByteBuffer() }
        context.write(wrapOutboundOut(bytes), promise: promise)
      }
    }

    private static let deadline = TimeAmount.seconds(10)

    private static func channel(among connections: OpenConnections? = nil) throws -> EmbeddedChannel {
      let channel = EmbeddedChannel(handlers: [
        Encoder(), RequestDeadlineHandler(deadline: deadline, among: connections),
      ])
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      return channel
    }

    private static let head = HTTPRequestPart.head(
      HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/"))

    private static func request(_ channel: EmbeddedChannel) throws {
      try channel.writeInbound(head)
      try channel.writeInbound(HTTPRequestPart.end(nil))
    }

    private static func body(_ byteCount: Int) -> HTTPRequestPart {
      .body(ByteBuffer(repeating: 0, count: byteCount))
    }

    private static func wait(_ channel: EmbeddedChannel, _ seconds: Int64) {
      channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
    }

    private static func write(_ channel: EmbeddedChannel, _ byteCount: Int) {
      channel.write(HTTPResponsePart.body(ByteBuffer(repeating: 0, count: byteCount)), promise: nil)
    }

    @Test func endsAConnectionOnWhichNothingComes() throws {
      let channel = try Self.channel()
      Self.wait(channel, 9)
      #expect(channel.isActive)
      Self.wait(channel, 1)
      #expect(!channel.isActive)
    }

    @Test func givesTimeForWhatArrives() throws {
      let channel = try Self.channel()
      try channel.writeInbound(Self.head)
      // A byte now and then gives none.
      for _ in 0..<9 {
        Self.wait(channel, 1)
        try channel.writeInbound(Self.body(1))
        channel.read()
      }
      #expect(channel.isActive)
      // Five seconds more.
      try channel.writeInbound(Self.body(5 * 16 << 10))
      channel.read()
      Self.wait(channel, 5)
      #expect(channel.isActive)
      // It looks four times within the deadline.
      Self.wait(channel, 4)
      #expect(!channel.isActive)
    }

    @Test func givesNoTimeInAdvance() throws {
      let channel = try Self.channel()
      try channel.writeInbound(Self.head)
      try channel.writeInbound(Self.body(64 << 20))
      channel.read()
      Self.wait(channel, 11)
      #expect(!channel.isActive)
    }

    @Test func doesNotCountWhileTheServerReadsNothing() throws {
      let channel = try Self.channel()
      try channel.writeInbound(Self.head)
      try channel.writeInbound(Self.body(1))
      // Nothing more is asked for.
      Self.wait(channel, 600)
      #expect(channel.isActive)
      channel.read()
      Self.wait(channel, 9)
      #expect(channel.isActive)
      Self.wait(channel, 2)
      #expect(!channel.isActive)
    }

    @Test func waitsForItsOwnAnswer() throws {
      let channel = try Self.channel()
      try Self.request(channel)
      Self.wait(channel, 600)
      #expect(channel.isActive)
    }

    @Test func waitsForTheNextRequestFromWhenTheAnswerIsTaken() throws {
      let channel = try Self.channel()
      try Self.request(channel)
      Self.write(channel, 1 << 20)
      channel.write(HTTPResponsePart.end(nil), promise: nil)
      Self.wait(channel, 9)
      #expect(channel.isActive)
      channel.flush()
      Self.wait(channel, 9)
      #expect(channel.isActive)
      Self.wait(channel, 1)
      #expect(!channel.isActive)
    }

    @Test func keepsAClientThatTakesItsAnswerSlowly() throws {
      let channel = try Self.channel()
      try Self.request(channel)
      for _ in 0..<60 {
        // Something waits at each moment.
        Self.write(channel, 10 << 10)
        channel.flush()
        Self.write(channel, 10 << 10)
        Self.wait(channel, 9)
      }
      #expect(channel.isActive)
    }

    @Test func endsAClientThatTakesNothing() throws {
      let channel = try Self.channel()
      try Self.request(channel)
      Self.write(channel, 1 << 20)
      Self.wait(channel, 9)
      #expect(channel.isActive)
      Self.wait(channel, 16)
      #expect(!channel.isActive)
    }

    @Test func endsAClientThatTakesAByteNowAndThen() throws {
      let channel = try Self.channel()
      try Self.request(channel)
      for _ in 0..<40 where channel.isActive {
        Self.write(channel, 10)
        channel.flush()
        Self.write(channel, 10)
        Self.wait(channel, 1)
      }
      #expect(!channel.isActive)
    }

    @Test func endsAClientThatTakesNothingOfABatchThatItStillSends() throws {
      let channel = try Self.channel()
      try channel.writeInbound(Self.head)
      try channel.writeInbound(Self.body(1))
      Self.write(channel, 1 << 20)
      Self.wait(channel, 25)
      #expect(!channel.isActive)
    }

    @Test func closesIdleConnectionsWhenFewAreLeft() throws {
      let connections = OpenConnections(maximum: 4)
      let idle = try (0..<3).map { _ in try Self.channel(among: connections) }
      let busy = try Self.channel(among: connections)
      try Self.request(busy)
      #expect(connections.count == 4)
      for channel in idle + [busy] { Self.wait(channel, 2) }
      for channel in idle { #expect(!channel.isActive) }
      #expect(busy.isActive)
      #expect(connections.count == 1)
      try busy.close().wait()
      #expect(connections.count == 0)
    }

    @Test func keepsIdleConnectionsWhileThereAreEnough() throws {
      let connections = OpenConnections(maximum: 100)
      let channels = try (0..<20).map { _ in try Self.channel(among: connections) }
      for channel in channels { Self.wait(channel, 9) }
      #expect(connections.count == 20)
    }
  }
#endif
