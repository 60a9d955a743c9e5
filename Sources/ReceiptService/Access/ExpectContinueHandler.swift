// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  public import NIOCore
  public import NIOHTTPTypes

  /// Has clients that wait for it send the body (RFC 9110, 10.1.1): curl waits a second with bodies of more than a
  /// megabyte. It belongs before handlers that look at answers.
  public final class ExpectContinueHandler: ChannelInboundHandler, RemovableChannelHandler {
    /// Parts of requests.
    public typealias InboundIn = HTTPRequestPart
    /// Parts of requests.
    public typealias InboundOut = HTTPRequestPart
    /// Parts of answers.
    public typealias OutboundOut = HTTPResponsePart

    /// Creates a handler for one connection.
    public init() {}

    /// Answers a head that expects it with 100.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if case .head(let request) = unwrapInboundIn(data),
        request.headerFields[.expect]?.lowercased() == "100-continue"
      {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
      }
      context.fireChannelRead(data)
    }
  }
#endif
