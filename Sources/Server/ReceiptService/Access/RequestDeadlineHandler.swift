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

  /// The deadline of the client of one connection, by the rules of ``RequestDeadlineHandler``.
  ///
  /// It has neither a clock nor a channel: the handler reports what happens, and performs the actions.
  struct RequestDeadline: Sendable {
    enum Action: Sendable, Hashable {
      case close
      /// Look again at this time, and not before.
      case look(at: NIODeadline)
    }

    private static let receivedBytesPerSecond: Int64 = 16 << 10
    private static let takenBytesPerSecond: Int64 = 1 << 10
    /// The time that a client may keep the server waiting when connections are scarce.
    private static let scarceTime = TimeAmount.seconds(1)

    private let deadline: TimeAmount
    /// The number of requests whose answer the client has not read completely.
    private var unansweredCount = 0
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

    init(_ deadline: TimeAmount) { self.deadline = deadline }

    /// `true` if it is the client's turn to send.
    private var isWaiting: Bool { isArriving ? heldBackSince == nil : unansweredCount == 0 }

    // MARK: Requests

    mutating func opened(at now: NIODeadline) -> Action {
      waitingSince = now
      return .look(at: now + deadline)
    }

    mutating func receivedHead(at now: NIODeadline) {
      isArriving = true
      unansweredCount += 1
      waitingSince = now
    }

    mutating func receivedBody(_ byteCount: Int, at now: NIODeadline) {
      let gained = TimeAmount.nanoseconds(
        Int64(byteCount) * (1_000_000_000 / Self.receivedBytesPerSecond))
      waitingSince = min(now, waitingSince + gained)
    }

    mutating func receivedEnd(at now: NIODeadline) {
      isArriving = false
      heldBackSince = nil
      if unansweredCount == 0 { waitingSince = now }
    }

    /// Notes that the server has all available input, and has not asked for more.
    mutating func stoppedReading(at now: NIODeadline) {
      if isArriving, heldBackSince == nil { heldBackSince = now }
    }

    mutating func wantsMore(at now: NIODeadline) {
      guard let since = heldBackSince else { return }
      waitingSince = waitingSince + (now - since)
      heldBackSince = nil
    }

    /// Returns `true` if the client keeps the server waiting, so that its connection is closed while few are free.
    func mustYield(at now: NIODeadline) -> Bool { isWaiting && waitingSince + Self.scarceTime <= now }

    // MARK: Answers

    mutating func wrote(_ byteCount: Int) { writtenByteCount += Int64(byteCount) }

    /// Notes that the client has read the end of an answer.
    mutating func answered(at now: NIODeadline) {
      unansweredCount -= 1
      // The rest of a body that the server does not read must arrive within the same deadline.
      if unansweredCount == 0 { waitingSince = now }
    }

    // MARK: Time

    mutating func look(at now: NIODeadline, unsentByteCount: Int64) -> Action {
      let isLate = isWaiting && waitingSince + deadline <= now
      if isLate || isStalled(at: now, unsentByteCount) { return .close }
      let soon = now + .nanoseconds(max(deadline.nanoseconds / 4, 1_000_000))
      return .look(at: isWaiting && unansweredCount == 0 ? waitingSince + deadline : soon)
    }

    /// Returns `true` if the client reads too slowly while bytes wait for it.
    private mutating func isStalled(at now: NIODeadline, _ unsentByteCount: Int64) -> Bool {
      guard unansweredCount > 0, unsentByteCount > 0 else {
        progress = nil
        return false
      }
      let taken = writtenByteCount - unsentByteCount
      let demanded = Self.takenBytesPerSecond * deadline.nanoseconds / 1_000_000_000
      guard let progress, taken - progress.byteCount < demanded else {
        progress = (taken, now)
        return false
      }
      return progress.time + deadline <= now
    }
  }
#endif
