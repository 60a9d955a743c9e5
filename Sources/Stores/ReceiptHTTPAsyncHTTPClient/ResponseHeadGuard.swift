// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  package import AsyncHTTPClient
  internal import NIOCore
  internal import NIOHTTP1

  extension HTTPClient.Configuration {
    /// Has exchanges fail whose answer has no status that HTTP knows, or more informational responses than a server has
    /// reason to send.
    ///
    /// AsyncHTTPClient 1.37 takes each status below 200 for an informational response, which has no end, and ends the
    /// process when the end of such an answer comes; NIO's decoder takes only 100 to 199 for one.
    package mutating func refuseImpossibleHeads() {
      http1_1ConnectionDebugInitializer = { channel in
        let add: @Sendable () throws -> Void = {
          let pipeline = channel.pipeline.syncOperations
          let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
          try pipeline.addHandler(ResponseHeadGuard(), position: .after(decoder))
        }
        // At once, so that nothing can happen to the connection before the client knows of it.
        guard channel.eventLoop.inEventLoop else { return channel.eventLoop.submit(add) }
        return channel.eventLoop.makeCompletedFuture(withResultOf: add)
      }
    }
  }

  /// Keeps heads from AsyncHTTPClient that it does not expect. It stands behind the decoder.
  final class ResponseHeadGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// More informational responses to one request are a flood.
    static let maximumInformationalCount = 16

    private var informationalCount = 0
    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !isRefused else { return }
      if case .head(let head) = unwrapInboundIn(data) {
        switch head.status.code {
        case 100..<200:
          informationalCount += 1
          guard informationalCount <= Self.maximumInformationalCount else { return refuse(context) }
        case 200..<1000: informationalCount = 0
        default: return refuse(context)
        }
      }
      context.fireChannelRead(data)
    }

    private func refuse(_ context: ChannelHandlerContext) {
      isRefused = true
      context.fireErrorCaught(HTTPParserError.invalidStatus)
      context.close(promise: nil)
    }
  }
#endif
