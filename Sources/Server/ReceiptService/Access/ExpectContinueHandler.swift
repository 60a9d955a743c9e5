// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  package import NIOCore
  internal import NIOHTTP1
  internal import NIOHTTPTypes

  /// Sends 100 (Continue) to clients that wait for it before they send the body (RFC 9110, 10.1.1).
  ///
  /// curl waits for a second with bodies of more than a megabyte. The handler sends 100 only after the answers to
  /// earlier requests are written. Clients of HTTP/1.0, which does not define 100, get answers of HTTP/1.0.
  ///
  /// Add it before handlers that look at answers.
  package final class ExpectContinueHandler: ConnectionHandler {
    /// The number of requests whose answer is not complete yet.
    private var unansweredCount = 0
    /// `true` if a 100 (Continue) must follow, which cannot be written within the answer to an earlier request.
    private var isOwed = false

    package init() {}

    /// Adds the handler for HTTP/1.0 directly behind the decoder, where the version is still visible.
    package func handlerAdded(context: ChannelHandlerContext) {
      let pipeline = context.pipeline.syncOperations
      guard let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) else {
        return
      }
      try? pipeline.addHandler(HTTP10Handler(), position: .after(decoder))
    }

    /// Sends 100 if a head expects it and no earlier answer is outstanding; otherwise notes that it must be sent later.
    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      isOwed = false
      if case .head(let request) = unwrapInboundIn(data) {
        unansweredCount += 1
        if request.headerFields[.expect]?.lowercased() == "100-continue" {
          if unansweredCount == 1 { writeContinue(context) } else { isOwed = true }
        }
      }
      context.fireChannelRead(data)
    }

    /// Notes the end of an answer, and sends a delayed 100.
    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      context.write(data, promise: promise)
      guard case .end = unwrapOutboundIn(data) else { return }
      unansweredCount -= 1
      if isOwed, unansweredCount == 1 {
        isOwed = false
        writeContinue(context)
      }
    }

    private func writeContinue(_ context: ChannelHandlerContext) {
      context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }
  }

  /// Answers clients of HTTP/1.0 in HTTP/1.0 (RFC 9112, 2.3 and 9.3): without 100 and without chunks, on a connection
  /// that ends with the answer.
  final class HTTP10Handler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var unansweredCount = 0
    /// `true` after an HTTP/1.0 request: it is the connection's last request.
    private var isLast = false
    private var isLastComplete = false
    private var isLastAnswered = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(var head):
        guard !isLast else { return }
        unansweredCount += 1
        guard head.version.major < 1 || (head.version.major == 1 && head.version.minor == 0) else { break }
        isLast = true
        head.headers.remove(name: "expect")
        return context.fireChannelRead(wrapInboundOut(.head(head)))
      case .body where isLastComplete: return
      case .body: break
      case .end where isLastComplete: return
      case .end where isLast:
        isLastComplete = true
        // The close waits for the end of the request: closing with unread input resets the connection, and the client
        // could lose the response.
        if isLastAnswered { context.close(promise: nil) }
      case .end: break
      }
      context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      switch unwrapOutboundIn(data) {
      case .head(var head) where isLast && unansweredCount == 1:
        head.version = .http1_0
        head.headers.remove(name: "transfer-encoding")
        head.headers.replaceOrAdd(name: "connection", value: "close")
        context.write(wrapOutboundOut(.head(head)), promise: promise)
      case .end:
        unansweredCount -= 1
        guard isLast, unansweredCount == 0 else { return context.write(data, promise: promise) }
        let promise = promise ?? context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { _ in
          let (handler, context) = bound.value
          handler.isLastAnswered = true
          if handler.isLastComplete { context.close(promise: nil) }
        }
        context.writeAndFlush(data, promise: promise)
      default: context.write(data, promise: promise)
      }
    }
  }
#endif
