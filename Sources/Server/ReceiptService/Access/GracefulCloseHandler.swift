// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  package import NIOCore
  package import NIOHTTPTypes

  /// A handler of the requests and answers of one connection.
  package protocol ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler
  where
    InboundIn == HTTPRequestPart, InboundOut == HTTPRequestPart, OutboundIn == HTTPResponsePart,
    OutboundOut == HTTPResponsePart
  {}

  /// Closes a connection only after the whole answer has been sent, also during a graceful shutdown, and gives the
  /// request's place back then.
  ///
  /// An earlier close would cut off the part of the answer that a slow client has not read yet. An answer that
  /// announces `Connection: close` is the last (RFC 9112, 9.6).
  ///
  /// Add it behind a ``RequestDeadlineHandler``, which closes the connection of a client that reads nothing.
  package final class GracefulCloseHandler: ConnectionHandler {
    private var isRequestComplete = false
    private var isLast = false
    /// Completes when the end of the last answer is written.
    private var answer: EventLoopFuture<Void>?
    /// The place of the request that is being answered.
    private var place: RequestPlaces.Place?

    package init() {}

    /// Notes whether all of a request has arrived.
    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if case .end = unwrapInboundIn(data) { isRequestComplete = true } else { isRequestComplete = false }
      context.fireChannelRead(data)
    }

    /// Takes the place of the request that is answered next.
    package func triggerUserOutboundEvent(
      context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
      guard let place = event as? RequestPlaces.Place else {
        return context.triggerUserOutboundEvent(event, promise: promise)
      }
      self.place = place
      promise?.succeed()
    }

    /// Gives the place of an unfinished answer back.
    package func handlerRemoved(context: ChannelHandlerContext) { place = nil }

    /// Notes the end of an answer, and closes the connection after the last one.
    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      switch unwrapOutboundIn(data) {
      case .head(let head):
        isLast = head.headerFields[.connection]?.lowercased() == "close"
        context.write(data, promise: promise)
      case .body: context.write(data, promise: promise)
      case .end:
        let promise = promise ?? context.eventLoop.makePromise(of: Void.self)
        answer = promise.futureResult
        if let place = place.take() {
          promise.futureResult.whenComplete { _ in withExtendedLifetime(place) {} }
        }
        context.write(data, promise: promise)
        // If the request is still arriving, closing would reset the connection, and the client could lose the
        // response. The client closes then.
        guard isLast, isRequestComplete else { return }
        context.flush()
        close(context: context, mode: .all, promise: nil)
      }
    }

    /// Closes the connection when the last answer has been sent.
    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
      guard mode == .all, let answer else { return context.close(mode: mode, promise: promise) }
      let context = NIOLoopBound(context, eventLoop: context.eventLoop)
      answer.whenComplete { _ in context.value.close(mode: .all, promise: promise) }
    }
  }
#endif
