// SPDX-License-Identifier: Apache-2.0

#if Server
  package import NIOCore
  package import NIOHTTPTypes

  /// Closes connections whose client takes too long:
  ///
  /// - for the head of a request, from the opening of the connection or the end of the previous answer;
  /// - for the body. Each 16 KiB received extend the time by a second, up to the deadline from now. A client that sends
  ///   a byte now and then holds a connection no longer than one that sends nothing. While the server itself reads
  ///   nothing, no time passes;
  /// - to read an answer. While bytes wait for the client, it must read 1 KiB for each second of the deadline.
  package final class RequestDeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// Parts of requests.
    package typealias InboundIn = HTTPRequestPart
    /// Parts of requests.
    package typealias InboundOut = HTTPRequestPart
    /// Parts of answers.
    package typealias OutboundIn = HTTPResponsePart
    /// Parts of answers.
    package typealias OutboundOut = HTTPResponsePart

    private static let receivedBytesPerSecond: Int64 = 16 << 10
    private static let takenBytesPerSecond: Int64 = 1 << 10
    /// The value of TCP_NOTSENT_LOWAT: the number of bytes of an answer that the kernel may hold unsent.
    ///
    /// The default is megabytes, with which a slow client cannot be distinguished from one that reads nothing.
    private static let unsentByteCount = 64 << 10
    /// The time that a client may keep the server waiting when connections are scarce.
    private static let scarceTime = TimeAmount.seconds(1)

    private let deadline: TimeAmount
    private let connections: OpenConnections?
    private var connection: Int?
    /// The number of requests whose answer the client has not read completely.
    private var unansweredCount = 0
    /// `true` between the head and the end of a request.
    private var isArriving = false
    /// The time at which the server began to wait for a head or for the rest of a request, moved forward by the
    /// received bytes.
    private var waitingSince = NIODeadline.distantPast
    /// The time since when the server has read nothing of an arriving request; `nil` while it reads.
    private var heldBackSince: NIODeadline?
    private var writtenByteCount: Int64 = 0
    /// The last sufficient progress of the client: the number of bytes it had read, and when; `nil` while nothing
    /// waits.
    private var progress: (byteCount: Int64, time: NIODeadline)?
    private var timer: Scheduled<Void>?

    /// Creates a handler for one connection.
    package convenience init(deadline: TimeAmount) { self.init(deadline: deadline, among: nil) }

    /// Creates a handler for a connection that counts among others.
    package init(deadline: TimeAmount, among connections: OpenConnections?) {
      self.deadline = deadline
      self.connections = connections
    }

    /// Starts waiting for the first request.
    package func handlerAdded(context: ChannelHandlerContext) {
      let options = context.channel.syncOptions
      try? options?.setOption(
        .tcpOption(NIOBSDSocket.Option(rawValue: 25)), value: numericCast(Self.unsentByteCount))
      waitingSince = context.eventLoop.now
      schedule(context, at: waitingSince + deadline)
      connection = connections?.add(context.channel)
    }

    /// Stops waiting.
    package func handlerRemoved(context: ChannelHandlerContext) { end() }

    /// Stops waiting.
    package func channelInactive(context: ChannelHandlerContext) {
      end()
      context.fireChannelInactive()
    }

    private func end() {
      timer?.cancel()
      if let connection { connections?.remove(connection) }
      connection = nil
    }

    // MARK: Requests

    /// Notes the progress of a request.
    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head:
        isArriving = true
        unansweredCount += 1
        waitingSince = context.eventLoop.now
      case .body(let buffer):
        let gained = TimeAmount.nanoseconds(
          Int64(buffer.readableBytes) * (1_000_000_000 / Self.receivedBytesPerSecond))
        waitingSince = min(context.eventLoop.now, waitingSince + gained)
      case .end:
        isArriving = false
        heldBackSince = nil
        if unansweredCount == 0 { waitingSince = context.eventLoop.now }
      }
      context.fireChannelRead(data)
    }

    /// Notes that the received input is being processed.
    package func channelReadComplete(context: ChannelHandlerContext) {
      if isArriving, heldBackSince == nil { heldBackSince = context.eventLoop.now }
      context.fireChannelReadComplete()
    }

    /// Notes that the server wants to read more.
    package func read(context: ChannelHandlerContext) {
      if let since = heldBackSince {
        waitingSince = waitingSince + (context.eventLoop.now - since)
        heldBackSince = nil
      }
      context.read()
    }

    /// Closes a connection that keeps the server waiting, if connections are scarce.
    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard event is OpenConnections.Scarcity else { return context.fireUserInboundEventTriggered(event) }
      guard isWaiting, waitingSince + Self.scarceTime <= context.eventLoop.now else { return }
      context.close(promise: nil)
    }

    /// `true` if it is the client's turn to send.
    private var isWaiting: Bool { isArriving ? heldBackSince == nil : unansweredCount == 0 }

    // MARK: Answers

    /// Counts the written bytes of an answer, and notes when the client has read its end.
    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      switch unwrapOutboundIn(data) {
      case .head: context.write(data, promise: promise)
      case .body(let buffer):
        writtenByteCount += Int64(buffer.readableBytes)
        context.write(data, promise: promise)
      case .end:
        let promise = promise ?? context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound((self, context.eventLoop), eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { _ in
          let (handler, eventLoop) = bound.value
          handler.unansweredCount -= 1
          // The rest of a body that the server does not read must arrive within the same deadline.
          if handler.unansweredCount == 0 { handler.waitingSince = eventLoop.now }
        }
        context.write(data, promise: promise)
      }
    }

    /// Returns `true` if the client reads too slowly while bytes wait for it.
    private func isStalled(_ context: ChannelHandlerContext, _ now: NIODeadline) -> Bool {
      let waiting =
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)).map { Int64($0) } ?? 0
      guard unansweredCount > 0, waiting > 0 else {
        progress = nil
        return false
      }
      let taken = writtenByteCount - waiting
      let demanded = Self.takenBytesPerSecond * deadline.nanoseconds / 1_000_000_000
      guard let progress, taken - progress.byteCount < demanded else {
        progress = (taken, now)
        return false
      }
      return progress.time + deadline <= now
    }

    // MARK: Time

    /// Schedules the connection's only timer.
    ///
    /// If it fires before the deadline, it is scheduled again.
    private func schedule(_ context: ChannelHandlerContext, at time: NIODeadline) {
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      timer = context.eventLoop.scheduleTask(deadline: time) {
        let (handler, context) = bound.value
        handler.look(context)
      }
    }

    private func look(_ context: ChannelHandlerContext) {
      let now = context.eventLoop.now
      let isLate = isWaiting && waitingSince + deadline <= now
      guard !isLate, !isStalled(context, now) else { return context.close(promise: nil) }
      let soon = now + .nanoseconds(max(deadline.nanoseconds / 4, 1_000_000))
      schedule(context, at: isWaiting && unansweredCount == 0 ? waitingSince + deadline : soon)
    }
  }
#endif
