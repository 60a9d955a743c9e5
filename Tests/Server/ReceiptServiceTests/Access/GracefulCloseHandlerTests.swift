// SPDX-License-Identifier: Apache-2.0

#if Server
  import HTTPTypes
  import NIOCore
  import NIOEmbedded
  import NIOHTTPTypes
  import ReceiptService
  import Testing

  /// When connections are closed.
  @Suite struct GracefulCloseHandlerTests {
    private static func channel() throws -> EmbeddedChannel {
      let channel = EmbeddedChannel(handler: GracefulCloseHandler())
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      try channel.writeInbound(
        HTTPRequestPart.head(HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")))
      return channel
    }

    private static func answer(_ channel: EmbeddedChannel, _ fields: HTTPFields = [:]) {
      channel.write(
        HTTPResponsePart.head(HTTPResponse(status: .ok, headerFields: fields)), promise: nil)
      channel.write(HTTPResponsePart.body(ByteBuffer(string: "much")), promise: nil)
      channel.write(HTTPResponsePart.end(nil), promise: nil)
    }

    @Test func closesWhenTheAnswerHasBeenTaken() throws {
      let channel = try Self.channel()
      try channel.writeInbound(HTTPRequestPart.end(nil))
      Self.answer(channel)
      // A graceful shutdown closes the channel at the end of an answer.
      channel.close(promise: nil)
      #expect(channel.isActive)
      channel.flush()
      #expect(!channel.isActive)
    }

    @Test func closesAtOnceWhereNothingIsToBeTaken() throws {
      let channel = try Self.channel()
      channel.close(promise: nil)
      #expect(!channel.isActive)
    }

    @Test func staysOpenBetweenRequests() throws {
      let channel = try Self.channel()
      try channel.writeInbound(HTTPRequestPart.end(nil))
      Self.answer(channel)
      channel.flush()
      #expect(channel.isActive)
      channel.close(promise: nil)
      #expect(!channel.isActive)
    }

    @Test func closesAfterTheAnswerThatAnnouncesIt() throws {
      let channel = try Self.channel()
      try channel.writeInbound(HTTPRequestPart.end(nil))
      Self.answer(channel, [.connection: "close"])
      #expect(!channel.isActive)
      #expect(try channel.readOutbound(as: HTTPResponsePart.self) != nil)
    }

    @Test func leavesAnAnswerToAClientThatStillSends() throws {
      let channel = try Self.channel()
      Self.answer(channel, [.connection: "close"])
      channel.flush()
      #expect(channel.isActive)
    }
  }
#endif
