// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import Synchronization

  /// Limits what is served at once, for the routes, the early handler and the console.
  struct Admission: Sendable {
    let places: RequestPlaces
    /// The places for complete requests without a key, which therefore do not displace requests with a key.
    let openPlaces: RequestPlaces
    let batches: AppPlaces
    let eventStreams: AppPlaces
    private let openRequests: OpenRequests
    private let bodies: BodyReader

    /// The maximum total size of the arriving bodies of requests without a key, or the size of two maximum bodies if
    /// that is larger.
    private static let openByteCount = 32 << 20

    init(_ limits: ServiceLimits, appCount: Int) {
      places = RequestPlaces(maximum: limits.maximumConcurrentRequests)
      openPlaces = RequestPlaces(maximum: limits.maximumConcurrentRequests)
      batches = .batches(maximum: limits.maximumConcurrentBatches, appCount: appCount)
      eventStreams = .eventStreams(maximum: limits.maximumEventStreamsPerApp)
      openRequests = OpenRequests(
        maximumByteCount: max(Self.openByteCount, 2 * limits.maximumBodyByteCount),
        maximumCount: max(1, limits.maximumConcurrentRequests / 4))
      bodies = BodyReader(maximumByteCount: limits.maximumBodyByteCount)
    }

    /// Serves a request in one of the places, which is given back when the answer has been sent.
    ///
    /// A stream gives it back when it begins: it has a place of its own, and may go on for hours.
    func serve(
      in places: RequestPlaces, _ context: ServiceContext, _ respond: () async throws -> Response
    ) async throws -> Response {
      let place = try RequestPlaces.Place(in: places)
      var isStream = false
      defer { if !isStream { place.hold(by: context.channel) } }
      let response = try await respond()
      isStream = response.body.contentLength == nil
      return response
    }

    /// Waits until the body of a request without a key has arrived completely, and returns the request with its body.
    func arrived(_ request: Request, _ context: ServiceContext) async throws -> Request {
      try bodies.requireLength(request)
      let id = openRequests.begin(from: context.remoteAddress ?? "", on: context.channel)
      defer { openRequests.end(id) }
      var body = ByteBuffer()
      for try await part in request.body {
        guard body.readableBytes + part.readableBytes <= bodies.maximumByteCount else {
          throw bodies.tooLarge
        }
        try openRequests.add(part.readableBytes, to: id)
        body.writeImmutableBuffer(part)
      }
      guard openRequests.end(id) else { throw OpenRequests.overloaded }
      return Request(head: request.head, body: RequestBody(buffer: body))
    }
  }

  /// The requests without a key whose body is still arriving.
  ///
  /// Such a request takes a place among the served requests only when it is complete, so that slow senders do not lock
  /// out others. The bytes of all these requests together are bounded, and so is the number of requests from one
  /// address. If a bound is exceeded, the oldest request is given up, since the bodies of genuine requests arrive at
  /// once.
  final class OpenRequests: Sendable {
    private struct Arriving {
      let address: String
      let channel: (any Channel)?
      var byteCount = 0
    }

    private struct State {
      var arriving: [Int: Arriving] = [:]
      var counts: [String: Int] = [:]
      var byteCount = 0
      var next = 0

      mutating func remove(_ id: Int) -> Arriving? {
        guard let request = arriving.removeValue(forKey: id) else { return nil }
        byteCount -= request.byteCount
        let count = (counts[request.address] ?? 1) - 1
        counts[request.address] = count > 0 ? count : nil
        return request
      }
    }

    private let maximumByteCount: Int
    private let maximumCount: Int
    private let state = Mutex(State())

    init(maximumByteCount: Int, maximumCount: Int) {
      self.maximumByteCount = maximumByteCount
      self.maximumCount = maximumCount
    }

    /// The number of bytes of all these requests received so far.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// Notes that a request from an address begins to arrive, and returns its identifier.
    func begin(from address: String, on channel: (any Channel)?) -> Int {
      let (id, displaced) = state.withLock { state -> (Int, Arriving?) in
        var displaced: Arriving?
        if state.counts[address, default: 0] >= maximumCount,
          let oldest = state.arriving.filter({ $0.value.address == address }).keys.min()
        {
          displaced = state.remove(oldest)
        }
        defer { state.next += 1 }
        state.arriving[state.next] = Arriving(address: address, channel: channel)
        state.counts[address, default: 0] += 1
        return (state.next, displaced)
      }
      displaced?.channel?.close(promise: nil)
      return id
    }

    /// Notes that more bytes have arrived, or throws if the request was given up in favor of others.
    func add(_ byteCount: Int, to id: Int) throws(Problem) {
      let (isThere, displaced) = state.withLock { state -> (Bool, [Arriving]) in
        guard state.arriving[id] != nil else { return (false, []) }
        state.arriving[id]?.byteCount += byteCount
        state.byteCount += byteCount
        var displaced: [Arriving] = []
        while state.byteCount > maximumByteCount,
          let oldest = state.arriving.filter({ $0.key != id && $0.value.byteCount > 0 }).keys.min(),
          let request = state.remove(oldest)
        {
          displaced.append(request)
        }
        return (true, displaced)
      }
      for request in displaced { request.channel?.close(promise: nil) }
      guard isThere else { throw Self.overloaded }
    }

    /// Notes that a request has arrived completely, or will not; returns `true` if it was not given up.
    @discardableResult
    func end(_ id: Int) -> Bool { state.withLock { $0.remove(id) != nil } }

    static let overloaded = Problem(
      .serviceUnavailable, "overloaded", "Too many requests are being sent. Try again.", retryAfter: 1)
  }
#endif
