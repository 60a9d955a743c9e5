// SPDX-License-Identifier: Apache-2.0

#if Server
  import NIOCore
  import NIOPosix
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Testing

  /// Endpoints that answer with anything. None of them ends the process.
  @Suite(.timeLimit(.minutes(2))) struct WebhookAnswerTests {
    /// Answers each request with the same bytes.
    private final class Handler: ChannelInboundHandler {
      typealias InboundIn = ByteBuffer
      typealias OutboundOut = ByteBuffer
      private let answer: ByteBuffer
      private var isAnswered = false

      init(_ answer: ByteBuffer) { self.answer = answer }

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered else { return }
        isAnswered = true
        context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
      }
      func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private static let change = EntitlementChange(
      DatabaseRow([1, "msg_1", "shop", "name", .null, 0, "entitlement.granted", .bytes(Array("{}".utf8))]))

    private static func outcome(of answer: String) async throws -> WebhookQueue.Outcome {
      let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(Handler(ByteBuffer(string: answer)))
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
      let outcome = await WebhookClient(timeout: .seconds(2)).post(
        change,
        to: WebhookEndpoint(
          name: "backend", url: "http://127.0.0.1:\(server.localAddress?.port ?? 0)/",
          secrets: [Array(repeating: 1, count: 24)], allowsPrivateNetworks: true),
        at: SampleReceipts.signedAt)
      try await server.close()
      return outcome
    }

    @Test(
      "a status that HTTP does not know is a failed attempt",
      arguments: ["000", "001", "009", "010", "042", "099"])
    func impossible(status: String) async throws {
      for rest in ["Content-Length: 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "\r\nbody"] {
        guard case .failed = try await Self.outcome(of: "HTTP/1.1 \(status) X\r\n\(rest)") else {
          Issue.record("\(status) was not refused")
          continue
        }
      }
    }

    @Test func aFloodOfInformationalAnswersIsAFailedAttempt() async throws {
      let flood = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 10_000)
      let few = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 3)
      let end = "HTTP/1.1 204 No Content\r\n\r\n"
      guard case .failed = try await Self.outcome(of: flood + end) else {
        Issue.record("the flood was not refused")
        return
      }
      #expect(try await Self.outcome(of: few + end) == .delivered)
      #expect(try await Self.outcome(of: end) == .delivered)
    }
  }
#endif
