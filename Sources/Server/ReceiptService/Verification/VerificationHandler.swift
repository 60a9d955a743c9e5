// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  package import NIOCore
  internal import NIOHTTPTypes
  internal import ReceiptCodec

  /// Answers `POST /v1/verify`, and OpenIAP's `POST /v1/purchase/verify`, before the router, because the router takes more time for a request than the verdict.
  ///
  /// Receipts that arrive together on an event loop are verified together.
  ///
  /// It takes only requests whose answer is certain to be a verdict: short ones that arrive complete, with a known key,
  /// for an app whose policies need no store, on a connection without another request under way. It passes all other
  /// requests on unchanged. If a verdict cannot be recorded, it passes the request on, too, and the router answers the
  /// error. Middleware of the router does not see the requests that it takes.
  ///
  /// Add it behind all handlers that look at requests and answers.
  package final class VerificationHandler: ConnectionHandler {
    /// The maximum length of a body; for longer ones, the time in the router does not matter.
    private static let maximumBodyByteCount = 64 << 10

    private let verifications: EarlyVerifications
    private let maximumBodyByteCount: Int
    private var requests: EarlyRequests<EarlyRequest>
    private var context: ChannelHandlerContext?
    private var group: VerificationGroup?

    package init(_ api: ReceiptAPI) {
      verifications = api.earlyVerifications
      maximumBodyByteCount = min(
        Self.maximumBodyByteCount, api.configuration.limits.maximumBodyByteCount)
      requests = EarlyRequests(maximumBodyByteCount: maximumBodyByteCount)
    }

    package func handlerAdded(context: ChannelHandlerContext) {
      self.context = context
      group = verifications.groups.group(on: context.eventLoop)
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
      if let work = requests.abandon() { verifications.end(work) }
      self.context = nil
    }

    package func channelInactive(context: ChannelHandlerContext) {
      if let work = requests.abandon() { verifications.end(work) }
      requests.dropPending()
      context.fireChannelInactive()
    }

    // MARK: Input

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      receive(.part(unwrapInboundIn(data)), context)
    }

    private func receive(_ input: EarlyRequests<EarlyRequest>.Input, _ context: ChannelHandlerContext) {
      let actions = requests.receive(input) { head in
        guard isCandidate(head, context) else { return nil }
        return verifications.begin(
          head, ClientAddressSource(peer: context.remoteAddress?.ipAddress, fields: head.headerFields))
      }
      perform(actions, context)
    }

    private func perform(_ actions: [EarlyRequests<EarlyRequest>.Action], _ context: ChannelHandlerContext) {
      for action in actions {
        switch action {
        case .passOn(.part(let part)): context.fireChannelRead(wrapInboundOut(part))
        case .passOn(.event(let event)): context.fireUserInboundEventTriggered(event)
        case .passOn(.failure(let error)): context.fireErrorCaught(error)
        case .perform(let work, let body):
          group?.append(.init(handler: self, request: work, body: body))
        case .release(let work):
          work.operation.giveBack()
          verifications.end(work)
        }
      }
    }

    private func isCandidate(_ head: HTTPRequest, _ context: ChannelHandlerContext) -> Bool {
      guard head.method == .post, let path = head.path, verifications.isCandidate(path) else {
        return false
      }
      let fields = head.headerFields
      // A client that does not read answers gets no further ones.
      return context.channel.isWritable
        && fields[.contentLength].flatMap { Int($0) }.map { $0 <= maximumBodyByteCount } ?? true
        && fields[.connection].map { $0.lowercased() == "keep-alive" } ?? true
        && !TraceContext.isNamed(in: fields) && ReceiptContent.problem(fields) == nil
    }

    /// Reads more input, unless input is being buffered.
    package func read(context: ChannelHandlerContext) {
      if requests.mayRead() { context.read() }
    }

    /// Notes the end of an answer of the router.
    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if case .end = unwrapOutboundIn(data) { requests.routerAnswered() }
      context.write(data, promise: promise)
    }

    /// Passes an event on, after the request before it.
    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      receive(.event(event), context)
    }

    /// Passes an error on, after the request before it.
    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
      receive(.failure(error), context)
    }

    // MARK: Answering

    func answer(_ answer: EarlyAnswer, date: String) {
      guard let context, let work = requests.finish() else { return }
      var fields: HTTPFields = [
        .contentType: "application/json", .contentLength: String(answer.json.bytes.count), .date: date,
      ]
      fields.append(contentsOf: answer.fields)
      verifications.answer.addCommonFields(to: &fields)
      context.write(
        wrapOutboundOut(.head(HTTPResponse(status: answer.status, headerFields: fields))), promise: nil)
      context.write(wrapOutboundOut(.body(ByteBuffer(bytes: answer.json.bytes))), promise: nil)
      let sent = context.eventLoop.makePromise(of: Void.self)
      verifications.end(work, after: sent.futureResult)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
      verifications.answer.count(work.operation.path, .post, answer.status, since: work.start)
      resume(context)
    }

    /// Passes the request, which has no verdict, on to the router.
    func giveBack() {
      guard let context, let actions = requests.giveUp() else { return }
      perform(actions, context)
      resume(context)
      context.fireChannelReadComplete()
    }

    /// Processes the input that was buffered during a verification.
    private func resume(_ context: ChannelHandlerContext) {
      let isInputPending = requests.isInputPending
      while let input = requests.nextPending() { receive(input, context) }
      if isInputPending { context.fireChannelReadComplete() }
      if requests.resumeReading() { context.read() }
    }
  }
#endif
