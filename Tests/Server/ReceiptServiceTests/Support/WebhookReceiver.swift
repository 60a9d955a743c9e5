// SPDX-License-Identifier: Apache-2.0

#if Server
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL
  import Synchronization

  /// A backend on loopback that takes webhooks, and fails when it is told to.
  final class WebhookReceiver: Sendable {
    struct Request: Sendable {
      let uri: String
      let headers: HTTPHeaders
      let body: String

      var id: String { headers.first(name: "webhook-id") ?? "" }
    }

    enum Answer: Sendable {
      case status(Int, [(String, String)] = [])
      /// 200 and a body that does not end.
      case endless
      /// Nothing, on a connection that stays open.
      case silence
      /// The connection is closed.
      case cut
    }

    private let channel: any Channel
    private let received = Mutex<[Request]>([])

    /// Starts it.
    ///
    /// - Parameters:
    ///   - tls: Its certificate, for `https`.
    ///   - answer: What to answer to a request, and how many came before it.
    /// - Throws: Where there is no port.
    init(
      tls: TLSConfiguration? = nil,
      _ answer: @escaping @Sendable (Request, Int) -> Answer = { _, _ in .status(204) }
    ) async throws {
      let context = try tls.map { try NIOSSLContext(configuration: $0) }
      let shared = Shared()
      channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            if let context {
              try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
            }
            try channel.pipeline.syncOperations.configureHTTPServerPipeline()
            try channel.pipeline.syncOperations.addHandler(Handler(shared))
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
      shared.handle.withLock { handle in
        handle = { [weak self] request in
          guard let self else { return .cut }
          let index = self.received.withLock { received in
            received.append(request)
            return received.count - 1
          }
          return answer(request, index)
        }
      }
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    var requests: [Request] { received.withLock { $0 } }
    var ids: [String] { requests.map(\.id) }

    func close() async { try? await channel.close() }

    private final class Shared: Sendable {
      let handle = Mutex<(@Sendable (Request) -> Answer)?>(nil)
    }

    private final class Handler: ChannelInboundHandler {
      typealias InboundIn = HTTPServerRequestPart
      typealias OutboundOut = HTTPServerResponsePart

      private let shared: Shared
      private var head: HTTPRequestHead?
      private var body = ByteBuffer()

      init(_ shared: Shared) { self.shared = shared }

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
          self.head = head
          body = ByteBuffer()
        case .body(var part): body.writeBuffer(&part)
        case .end:
          guard let head, let handle = shared.handle.withLock({ $0 }) else { return }
          answer(
            handle(Request(uri: head.uri, headers: head.headers, body: String(buffer: body))), context)
        }
      }

      private func answer(_ answer: Answer, _ context: ChannelHandlerContext) {
        switch answer {
        case .status(let status, let headers):
          var head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status))
          head.headers.add(contentsOf: HTTPHeaders(headers))
          if status != 204 { head.headers.add(name: "content-length", value: "0") }
          context.write(wrapOutboundOut(.head(head)), promise: nil)
          context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .endless:
          context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .ok))), promise: nil)
          let part = ByteBuffer(repeating: 0x20, count: 1 << 20)
          for _ in 0..<4 { context.write(wrapOutboundOut(.body(.byteBuffer(part))), promise: nil) }
          context.flush()
        case .silence: break
        case .cut: context.close(promise: nil)
        }
      }

      func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
  }
#endif
