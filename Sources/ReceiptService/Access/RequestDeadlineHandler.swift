// SPDX-License-Identifier: Apache-2.0

#if Server
  public import NIOCore
  public import NIOHTTPTypes

  /// Closes connections whose client takes too long: for the head of a request from when the connection is open or the
  /// answer before it ended; for the body, which may take a second more for each 16 KiB that arrived. A client that sends a
  /// byte now and then holds a connection no longer than one that sends nothing.
  public final class RequestDeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// Parts of requests.
    public typealias InboundIn = HTTPRequestPart
    /// Parts of requests.
    public typealias InboundOut = HTTPRequestPart
    /// Parts of answers.
    public typealias OutboundIn = HTTPResponsePart
    /// Parts of answers.
    public typealias OutboundOut = HTTPResponsePart

    private enum Phase { case head, body, answer }
    private static let bytesPerSecond = 16 << 10

    private let deadline: TimeAmount
    private var phase = Phase.head
    private var begin = NIODeadline.now()
    private var bodyByteCount = 0
    private var isEnded = false
    private var timer: Scheduled<Void>?

    /// Creates a handler for one connection.
    public init(deadline: TimeAmount) { self.deadline = deadline }

    /// Begins to wait for the first request.
    public func handlerAdded(context: ChannelHandlerContext) { wait(for: .head, context) }

    /// Stops waiting.
    public func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    /// Stops waiting.
    public func channelInactive(context: ChannelHandlerContext) {
      timer?.cancel()
      context.fireChannelInactive()
    }

    /// Notes how far a request has arrived.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head:
        bodyByteCount = 0
        isEnded = false
        begin = .now()
        phase = .body
      case .body(let buffer): bodyByteCount += buffer.readableBytes
      case .end:
        isEnded = true
        if phase == .body { phase = .answer }
      }
      context.fireChannelRead(data)
    }

    /// Notes the end of an answer.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if case .end = unwrapOutboundIn(data) {
        // What is left of a body that nobody reads must arrive within the same time.
        if isEnded { wait(for: .head, context) }
      }
      context.write(data, promise: promise)
    }

    private func wait(for phase: Phase, _ context: ChannelHandlerContext) {
      self.phase = phase
      begin = .now()
      if timer == nil { schedule(context, at: begin + deadline) }
    }

    private var due: NIODeadline {
      begin + deadline + .seconds(phase == .body ? Int64(bodyByteCount / Self.bytesPerSecond) : 0)
    }

    /// One timer for a connection, which looks again when it comes too early.
    private func schedule(_ context: ChannelHandlerContext, at time: NIODeadline) {
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      timer = context.eventLoop.scheduleTask(deadline: time) {
        let (handler, context) = bound.value
        if handler.phase == .answer {
          return handler.schedule(context, at: .now() + handler.deadline)
        }
        guard handler.due <= .now() else { return handler.schedule(context, at: handler.due) }
        context.close(promise: nil)
      }
    }
  }
#endif
