// SPDX-License-Identifier: Apache-2.0

#if Server
  import HTTPTypes
  import NIOCore
  import NIOEmbedded
  import NIOHTTP1
  import NIOHTTPTypes
  @testable import ReceiptService
  import Testing

  /// When clients get 100, and what clients of HTTP/1.0 get.
  @Suite struct ExpectContinueHandlerTests {
    private static func head(expects: Bool) -> HTTPRequestPart {
      .head(
        HTTPRequest(
          method: .post, scheme: nil, authority: nil, path: "/",
          headerFields: expects ? [.expect: "100-Continue"] : [:]))
    }

    /// The statuses and ends that were written since.
    private static func written(_ channel: EmbeddedChannel) throws -> [String] {
      var written: [String] = []
      while let part = try channel.readOutbound(as: HTTPResponsePart.self) {
        switch part {
        case .head(let head): written.append("\(head.status.code)")
        case .body: written.append("body")
        case .end: written.append("end")
        }
      }
      return written
    }

    private static func answer(_ channel: EmbeddedChannel) throws {
      try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
      try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    @Test func asksForABodyAtOnce() throws {
      let channel = EmbeddedChannel(handler: ExpectContinueHandler())
      try channel.writeInbound(Self.head(expects: true))
      #expect(try Self.written(channel) == ["100"])
      try channel.writeInbound(HTTPRequestPart.end(nil))
      try Self.answer(channel)
      try channel.writeInbound(Self.head(expects: false))
      #expect(try Self.written(channel) == ["200", "end"])
      try Self.answer(channel)
      try channel.writeInbound(Self.head(expects: true))
      #expect(try Self.written(channel) == ["200", "end", "100"])
    }

    @Test func asksAfterTheAnswersBefore() throws {
      let channel = EmbeddedChannel(handler: ExpectContinueHandler())
      for expects in [false, false, true] {
        try channel.writeInbound(Self.head(expects: expects))
        if !expects { try channel.writeInbound(HTTPRequestPart.end(nil)) }
      }
      #expect(try Self.written(channel) == [])
      try Self.answer(channel)
      #expect(try Self.written(channel) == ["200", "end"])
      try Self.answer(channel)
      #expect(try Self.written(channel) == ["200", "end", "100"])
      try Self.answer(channel)
      #expect(try Self.written(channel) == ["200", "end"])
    }

    @Test func doesNotAskForABodyThatComes() throws {
      let channel = EmbeddedChannel(handler: ExpectContinueHandler())
      try channel.writeInbound(Self.head(expects: false))
      try channel.writeInbound(HTTPRequestPart.end(nil))
      try channel.writeInbound(Self.head(expects: true))
      try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "a")))
      try Self.answer(channel)
      #expect(try Self.written(channel) == ["200", "end"])
    }

    // MARK: HTTP/1.0

    private static func old(_ version: HTTPVersion) -> HTTPServerRequestPart {
      .head(HTTPRequestHead(version: version, method: .POST, uri: "/", headers: ["Expect": "100-continue"]))
    }

    private static func channel() throws -> EmbeddedChannel {
      let channel = EmbeddedChannel(handler: HTTP10Handler())
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      return channel
    }

    private static func answer(old channel: EmbeddedChannel) throws -> HTTPResponseHead? {
      try channel.writeOutbound(
        HTTPServerResponsePart.head(
          HTTPResponseHead(version: .http1_1, status: .ok, headers: ["transfer-encoding": "chunked"])))
      try channel.writeOutbound(HTTPServerResponsePart.end(nil))
      guard case .head(let head) = try channel.readOutbound(as: HTTPServerResponsePart.self) else {
        return nil
      }
      _ = try channel.readOutbound(as: HTTPServerResponsePart.self)
      return head
    }

    @Test func answersHTTP10InKind() throws {
      let channel = try Self.channel()
      try channel.writeInbound(Self.old(.http1_0))
      guard case .head(let head) = try channel.readInbound(as: HTTPServerRequestPart.self) else {
        Issue.record("no head")
        return
      }
      #expect(!head.headers.contains(name: "expect"))
      try channel.writeInbound(HTTPServerRequestPart.end(nil))
      // The channel reads nothing behind this request.
      try channel.writeInbound(Self.old(.http1_1))
      try channel.writeInbound(HTTPServerRequestPart.end(nil))
      _ = try channel.readInbound(as: HTTPServerRequestPart.self)
      #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == nil)
      let answer = try #require(try Self.answer(old: channel))
      #expect(answer.version == .http1_0)
      #expect(answer.headers["connection"] == ["close"])
      #expect(!answer.headers.contains(name: "transfer-encoding"))
      #expect(!channel.isActive)
    }

    @Test func doesNotCutOffAnAnswerToAClientThatStillSends() throws {
      let channel = try Self.channel()
      try channel.writeInbound(Self.old(.http1_0))
      _ = try Self.answer(old: channel)
      #expect(channel.isActive)
      try channel.writeInbound(HTTPServerRequestPart.end(nil))
      #expect(!channel.isActive)
    }

    @Test func leavesHTTP11AsItIs() throws {
      let channel = try Self.channel()
      for _ in 0..<2 {
        try channel.writeInbound(Self.old(.http1_1))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        let answer = try #require(try Self.answer(old: channel))
        #expect(answer.version == .http1_1)
        #expect(answer.headers.contains(name: "transfer-encoding"))
        #expect(channel.isActive)
      }
    }
  }
#endif
