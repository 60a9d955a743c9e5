// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  package import AsyncHTTPClient
  internal import NIOCore
  internal import NIOHTTP1

  extension HTTPClient.Configuration {
    /// Fails exchanges whose response has an invalid status, or too many informational responses before it.
    /// AsyncHTTPClient 1.37 treats every status below 200 as an informational response, which has no end, and ends the
    /// process when the end of such a response arrives. NIO's decoder treats only 100 to 199 as informational.
    package mutating func refuseImpossibleHeads() {
      http1_1ConnectionDebugInitializer = { channel in
        let add: @Sendable () throws -> Void = {
          let pipeline = channel.pipeline.syncOperations
          let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
          try pipeline.addHandler(ResponseHeadGuard(), position: .after(decoder))
        }
        // Adds it at once, so that nothing happens on the connection before the client knows of it.
        guard channel.eventLoop.inEventLoop else { return channel.eventLoop.submit(add) }
        return channel.eventLoop.makeCompletedFuture(withResultOf: add)
      }
    }
  }

  /// A handler behind the decoder that withholds response heads that AsyncHTTPClient does not expect.
  final class ResponseHeadGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// The largest number of informational responses to one request; more are a flood.
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
