// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import NIOCore
  internal import NIOHTTPTypes

  /// The input of one connection, in front of the router: decides which requests are answered early, and what waits.
  ///
  /// It has no channel: ``VerificationHandler`` reports what happens, and performs the actions. `Work` is what is taken
  /// up for a request that may be answered early.
  struct EarlyRequests<Work> {
    enum Input {
      case part(HTTPRequestPart)
      case event(Any)
      case failure(any Error)
    }

    enum Action {
      case passOn(Input)
      /// Do the work of a request, with its body.
      case perform(Work, ByteBuffer)
      /// End the work of a request that is left to the router.
      case release(Work)
    }

    private struct ArrivingRequest {
      let head: HTTPRequest
      let work: Work
      var body = ByteBuffer()
    }

    private enum State {
      case open
      /// A request is arriving, and buffered until it is complete.
      case arriving(ArrivingRequest)
      /// A request is being answered, and input after it is buffered.
      case answering(ArrivingRequest)
    }

    /// The maximum length of the body of a request that is answered early.
    private let maximumBodyByteCount: Int
    private var state = State.open
    /// The number of requests that the router has not answered yet.
    private var routedCount = 0
    /// Input that arrived after a request that is being answered.
    private var pending = CircularBuffer<Input>()
    private var isReadPending = false

    init(maximumBodyByteCount: Int) { self.maximumBodyByteCount = maximumBodyByteCount }

    private var isAnswering: Bool { if case .answering = state { true } else { false } }

    // MARK: Input

    /// Handles input.
    ///
    /// - Parameters:
    ///   - input: The input.
    ///   - begin: Takes up the work of a request that may be answered early; `nil` leaves the request to the router. It
    ///     is called only if no request is under way.
    /// - Returns: The actions to perform.
    mutating func receive(_ input: Input, begin: (HTTPRequest) -> Work?) -> [Action] {
      switch (state, input) {
      case (.answering, _):
        pending.append(input)
        return []
      case (.arriving(var request), .part(.body(let bytes)))
      where request.body.readableBytes + bytes.readableBytes <= maximumBodyByteCount:
        // The buffer is not copied while nothing else holds it.
        state = .open
        request.body.writeImmutableBuffer(bytes)
        state = .arriving(request)
        return []
      case (.arriving(let request), .part(.end(nil))) where !Self.isForm(request):
        state = .answering(request)
        return [.perform(request.work, request.body)]
      case (.arriving, _):
        return leaveToRouter() + [.passOn(input)]
      case (.open, .part(.head(let head))):
        if routedCount == 0, let work = begin(head) {
          state = .arriving(ArrivingRequest(head: head, work: work))
          return []
        }
        routedCount += 1
        return [.passOn(input)]
      case (.open, _):
        return [.passOn(input)]
      }
    }

    /// Returns `true` if the body is a form; the rest of the header was checked when it arrived.
    private static func isForm(_ request: ArrivingRequest) -> Bool {
      ReceiptContent.isForm(request.head.headerFields)
        && ReceiptContent.problem(inForm: request.body.readableBytesView) != nil
    }

    /// Passes on the arrived part of a request.
    private mutating func leaveToRouter() -> [Action] {
      guard case .arriving(let request) = state else { return [] }
      state = .open
      routedCount += 1
      let head = [Action.release(request.work), .passOn(.part(.head(request.head)))]
      return request.body.readableBytes > 0 ? head + [.passOn(.part(.body(request.body)))] : head
    }

    /// Returns `true` if more input may be read; otherwise it is read after the answer.
    mutating func mayRead() -> Bool {
      if isAnswering { isReadPending = true }
      return !isAnswering
    }

    // MARK: Answers

    mutating func routerAnswered() { routedCount = max(0, routedCount - 1) }

    /// Ends the request whose answer is ready, and returns its work; `nil` if the connection has ended.
    mutating func finish() -> Work? {
      guard case .answering(let request) = state else { return nil }
      state = .open
      return request.work
    }

    /// Leaves the request to the router, which gets it by the actions; `nil` if the connection has ended.
    mutating func giveUp() -> [Action]? {
      guard case .answering(let request) = state else { return nil }
      state = .arriving(request)
      return leaveToRouter() + [.passOn(.part(.end(nil)))]
    }

    /// `true` if input waits for an answer.
    var isInputPending: Bool { !pending.isEmpty }

    /// Removes and returns the next input that waited for an answer, unless another answer is under way.
    mutating func nextPending() -> Input? { isAnswering ? nil : pending.popFirst() }

    /// Returns `true` if input is to be read that was asked for during an answer.
    mutating func resumeReading() -> Bool {
      guard isReadPending, !isAnswering else { return false }
      isReadPending = false
      return true
    }

    /// Gives up a request under way, because the connection has ended or the handler is removed, and returns its work.
    mutating func abandon() -> Work? {
      defer { state = .open }
      return switch state {
      case .open: nil
      case .arriving(let request), .answering(let request): request.work
      }
    }

    /// Drops the input that waited for an answer.
    mutating func dropPending() { pending.removeAll() }
  }
#endif
