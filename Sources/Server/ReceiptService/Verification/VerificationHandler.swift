// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  package import NIOCore
  package import NIOHTTPTypes
  internal import ReceiptCodec

  /// Answers `POST /v1/verify` before the router, because the router takes more time for a request than the verdict.
  ///
  /// Receipts that arrive together on an event loop are verified together.
  ///
  /// It takes only requests whose answer is certain to be a verdict: short ones that arrive complete, with a known key,
  /// for an app whose policies need no checkers, on a connection without another request under way. It passes all other
  /// requests on unchanged. If a verdict cannot be recorded, it passes the request on, too, and the router answers the
  /// error. Middleware of the router does not see the requests that it takes.
  ///
  /// Add it behind all handlers that look at requests and answers.
  package final class VerificationHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// Parts of requests.
    package typealias InboundIn = HTTPRequestPart
    /// Parts of requests.
    package typealias InboundOut = HTTPRequestPart
    /// Parts of answers.
    package typealias OutboundIn = HTTPResponsePart
    /// Parts of answers.
    package typealias OutboundOut = HTTPResponsePart

    private struct ArrivingRequest {
      let head: HTTPRequest
      /// The verification, which occupies a place among the requests that are served at once.
      let verification: Verification
      let start: ContinuousClock.Instant
      var body = ByteBuffer()
    }

    private enum State {
      /// All input is passed on.
      case open
      /// A request is arriving.
      ///
      /// It is buffered until it is complete.
      case arriving(ArrivingRequest)
      /// A request is being verified.
      ///
      /// Input after it is buffered.
      case verifying(ArrivingRequest)
    }

    /// Input that arrived after a request whose receipt is being verified.
    private enum Arrival {
      case part(HTTPRequestPart)
      case event(Any)
      case failure(any Error)
    }

    /// The maximum length of a body.
    ///
    /// For longer ones, the time in the router does not matter.
    private static let maximumBodyByteCount = 64 << 10

    private let api: ReceiptAPI
    private let maximumBodyByteCount: Int
    private var state = State.open
    private var context: ChannelHandlerContext?
    private var group: VerificationGroup?
    /// The number of requests that the router has not answered yet.
    private var routedCount = 0
    private var keptBack = CircularBuffer<Arrival>()
    private var isReadKeptBack = false

    /// Creates a handler for one connection.
    package init(_ api: ReceiptAPI) {
      self.api = api
      maximumBodyByteCount = min(
        Self.maximumBodyByteCount, api.configuration.limits.maximumBodyByteCount)
    }

    /// Joins the group of the event loop.
    package func handlerAdded(context: ChannelHandlerContext) {
      self.context = context
      group = api.verificationGroups.group(on: context.eventLoop)
    }

    /// Gives up a running request.
    package func handlerRemoved(context: ChannelHandlerContext) {
      leave()
      self.context = nil
    }

    /// Gives up a running request.
    package func channelInactive(context: ChannelHandlerContext) {
      leave()
      keptBack.removeAll()
      context.fireChannelInactive()
    }

    // MARK: Input

    /// Takes verification requests, and passes on all other input.
    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let part = unwrapInboundIn(data)
      switch (state, part) {
      case (.verifying, _):
        keptBack.append(.part(part))
      case (.arriving(var request), .body(let bytes))
      where request.body.readableBytes + bytes.readableBytes <= maximumBodyByteCount:
        state = .open
        request.body.writeImmutableBuffer(bytes)
        state = .arriving(request)
      case (.arriving(let request), .end(nil)):
        // The header was checked when it arrived.
        guard let group,
          !ReceiptContent.isForm(request.head.headerFields)
            || ReceiptContent.problem(inForm: request.body.readableBytesView) == nil
        else { fallthrough }
        state = .verifying(request)
        group.append(.init(handler: self, verification: request.verification, body: request.body))
      case (.arriving, _):
        passOn(context)
        context.fireChannelRead(data)
      case (.open, .head(let head)):
        if isCandidate(head, context), let verification = api.verificationAtOnce(head) {
          state = .arriving(ArrivingRequest(head: head, verification: verification, start: .now))
          return
        }
        routedCount += 1
        context.fireChannelRead(data)
      case (.open, _):
        context.fireChannelRead(data)
      }
    }

    private func isCandidate(_ head: HTTPRequest, _ context: ChannelHandlerContext) -> Bool {
      guard routedCount == 0, head.method == .post, let path = head.path,
        path.hasPrefix(ReceiptAPI.verificationPath)
      else { return false }
      let rest = path.utf8.dropFirst(ReceiptAPI.verificationPath.utf8.count)
      let fields = head.headerFields
      return (rest.isEmpty || rest.first == UInt8(ascii: "?"))
        // A client that does not read answers gets no further ones.
        && context.channel.isWritable
        && fields[.contentLength].flatMap { Int($0) }.map { $0 <= maximumBodyByteCount } ?? true
        && fields[.connection].map { $0.lowercased() == "keep-alive" } ?? true
        && !TraceContext.isNamed(in: fields) && ReceiptContent.problem(fields) == nil
    }

    /// Reads more input, unless input is being buffered.
    package func read(context: ChannelHandlerContext) {
      if case .verifying = state { isReadKeptBack = true } else { context.read() }
    }

    /// Notes the end of an answer of the router.
    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if case .end = unwrapOutboundIn(data) { routedCount = max(0, routedCount - 1) }
      context.write(data, promise: promise)
    }

    /// Passes an event on, after the request before it.
    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      switch state {
      case .verifying: return keptBack.append(.event(event))
      case .arriving: passOn(context)
      case .open: break
      }
      context.fireUserInboundEventTriggered(event)
    }

    /// Passes an error on, after the request before it.
    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
      switch state {
      case .verifying: return keptBack.append(.failure(error))
      case .arriving: passOn(context)
      case .open: break
      }
      context.fireErrorCaught(error)
    }

    // MARK: Answering

    /// Answers the request with its verdict.
    ///
    /// - Parameters:
    ///   - report: The JSON object with the verdict.
    ///   - date: The current time, for the header field `Date`.
    func answer(_ report: JSONWriter, date: String) {
      guard case .verifying(let request) = state, let context else { return }
      leave()
      var fields: HTTPFields = [
        .contentType: "application/json", .contentLength: String(report.bytes.count), .date: date,
      ]
      api.addCommonFields(to: &fields)
      context.write(
        wrapOutboundOut(.head(HTTPResponse(status: .ok, headerFields: fields))), promise: nil)
      context.write(wrapOutboundOut(.body(ByteBuffer(bytes: report.bytes))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      api.count(ReceiptAPI.verificationPath, .post, .ok, since: request.start)
      resume(context)
    }

    /// Passes the request, which has no verdict, on to the router.
    func giveBack() {
      guard case .verifying(let request) = state, let context else { return }
      state = .arriving(request)
      passOn(context)
      context.fireChannelRead(wrapInboundOut(.end(nil)))
      resume(context)
      context.fireChannelReadComplete()
    }

    private func leave() {
      if case .open = state { return }
      state = .open
      api.end()
    }

    /// Passes on the arrived part of a request.
    private func passOn(_ context: ChannelHandlerContext) {
      guard case .arriving(let request) = state else { return }
      leave()
      routedCount += 1
      context.fireChannelRead(wrapInboundOut(.head(request.head)))
      if request.body.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(.body(request.body))) }
    }

    /// Processes the input that was buffered during a verification.
    private func resume(_ context: ChannelHandlerContext) {
      let isAnythingKeptBack = !keptBack.isEmpty
      while !isVerifying, let arrival = keptBack.popFirst() {
        switch arrival {
        case .part(let part): channelRead(context: context, data: wrapInboundOut(part))
        case .event(let event): userInboundEventTriggered(context: context, event: event)
        case .failure(let error): errorCaught(context: context, error: error)
        }
      }
      if isAnythingKeptBack { context.fireChannelReadComplete() }
      if isReadKeptBack, !isVerifying {
        isReadKeptBack = false
        context.read()
      }
    }

    private var isVerifying: Bool { if case .verifying = state { true } else { false } }
  }
#endif
