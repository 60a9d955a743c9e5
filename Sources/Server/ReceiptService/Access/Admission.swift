// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore

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
#endif
