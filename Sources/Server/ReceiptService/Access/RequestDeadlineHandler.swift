// SPDX-License-Identifier: Apache-2.0

#if Server
  package import NIOCore
  internal import NIOHTTPTypes

  /// Closes connections whose client takes too long:
  ///
  /// - for the head of a request, from the opening of the connection or the end of the previous answer;
  /// - for the body. Each 16 KiB received extend the time by a second, up to the deadline from now. A client that sends
  ///   a byte now and then holds a connection no longer than one that sends nothing. While the server itself reads
  ///   nothing, no time passes;
  /// - to read an answer. While bytes wait for the client, it must read 1 KiB for each second of the deadline.
  package final class RequestDeadlineHandler: ConnectionHandler {
    /// The value of TCP_NOTSENT_LOWAT: the number of bytes of an answer that the kernel may hold unsent.
    ///
    /// The default is megabytes, with which a slow client cannot be distinguished from one that reads nothing.
    private static let unsentByteCount = 64 << 10

    private var deadline: RequestDeadline
    private let connections: OpenConnections?
    private var connection: Int?
    private var timer: Scheduled<Void>?

    package convenience init(deadline: TimeAmount) { self.init(deadline: deadline, among: nil) }

    package init(deadline: TimeAmount, among connections: OpenConnections?) {
      self.deadline = RequestDeadline(deadline)
      self.connections = connections
    }

    package func handlerAdded(context: ChannelHandlerContext) {
      let options = context.channel.syncOptions
      try? options?.setOption(
        .tcpOption(NIOBSDSocket.Option(rawValue: 25)), value: numericCast(Self.unsentByteCount))
      perform(deadline.opened(at: context.eventLoop.now), context)
      connection = connections?.add(context.channel)
    }

    package func handlerRemoved(context: ChannelHandlerContext) { end() }

    package func channelInactive(context: ChannelHandlerContext) {
      end()
      context.fireChannelInactive()
    }

    private func end() {
      timer?.cancel()
      if let connection { connections?.remove(connection) }
      connection = nil
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let now = context.eventLoop.now
      switch unwrapInboundIn(data) {
      case .head: deadline.receivedHead(at: now)
      case .body(let buffer): deadline.receivedBody(buffer.readableBytes, at: now)
      case .end: deadline.receivedEnd(at: now)
      }
      context.fireChannelRead(data)
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
      deadline.stoppedReading(at: context.eventLoop.now)
      context.fireChannelReadComplete()
    }

    package func read(context: ChannelHandlerContext) {
      deadline.wantsMore(at: context.eventLoop.now)
      context.read()
    }

    /// Closes a connection that keeps the server waiting, if connections are scarce.
    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard event is OpenConnections.Scarcity else { return context.fireUserInboundEventTriggered(event) }
      if deadline.mustYield(at: context.eventLoop.now) { context.close(promise: nil) }
    }

    /// Counts the written bytes of an answer, and notes when the client has read its end.
    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      switch unwrapOutboundIn(data) {
      case .head: context.write(data, promise: promise)
      case .body(let buffer):
        deadline.wrote(buffer.readableBytes)
        context.write(data, promise: promise)
      case .end:
        let promise = promise ?? context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound((self, context.eventLoop), eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { _ in
          let (handler, eventLoop) = bound.value
          handler.deadline.answered(at: eventLoop.now)
        }
        context.write(data, promise: promise)
      }
    }

    private func perform(_ action: RequestDeadline.Action, _ context: ChannelHandlerContext) {
      switch action {
      case .close: context.close(promise: nil)
      case .look(let time):
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(deadline: time) {
          let (handler, context) = bound.value
          let unsent = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
          handler.perform(
            handler.deadline.look(at: context.eventLoop.now, unsentByteCount: Int64(unsent)), context)
        }
      }
    }
  }
#endif
