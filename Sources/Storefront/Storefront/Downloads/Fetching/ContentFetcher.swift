// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptHTTP

/// Fetches content from a server by range requests. The transport reads whole responses, so ranges bound the memory.
struct ContentFetcher: Sendable {
  private let caller: RemoteCaller

  init(transport: any HTTPTransport, retry: RetryPolicy, time: RemoteTime) {
    caller = RemoteCaller(transport: transport, policy: retry, time: time)
  }

  /// Requests a range. A server that ignores ranges sends the whole content.
  /// If the validator of the bytes received before has changed, the server sends the whole content, too.
  func piece(
    of source: ContentSource, at offset: Int64, count: Int, validator: String?, maximumWholeByteCount: Int
  ) async throws(DownloadError) -> Piece {
    let count = Int(min(source.length - offset, Int64(count)))
    var headers = [HTTPHeader("Range", "bytes=\(offset)-\(offset + Int64(count) - 1)")]
    if offset > 0, let validator { headers.append(HTTPHeader("If-Range", validator)) }
    let piece = try await send(headers, to: source, limit: count) { response in
      switch response.status {
      case 206: Self.classifyPart(response, of: source, at: offset, count: count)
      case 416 where offset > 0: .done(.unsatisfiable)
      case 416: .failed(source.lengthMismatch(0))
      default: classifyWhole(response, of: source)
      }
    }
    if let piece { return piece }
    try DownloadError.require(
      source.length <= Int64(maximumWholeByteCount), .rangesUnsupported, at: source.place,
      "The server gives all \(source.length) bytes at once. Host it where parts can be had.")
    let whole = try await send([], to: source, limit: Int(source.length)) { classifyWhole($0, of: source) }
    guard let whole else { throw source.lengthMismatch(nil) }
    return whole
  }

  /// Sends a request; `nil` if the response is longer than the limit.
  private func send(
    _ headers: [HTTPHeader], to source: ContentSource, limit: Int,
    _ classify: (RemoteResponse) -> RemoteCaller.Outcome<Piece>
  ) async throws(DownloadError) -> Piece? {
    // Ranges and lengths are those of the unencoded content.
    let common = [HTTPHeader("Accept-Encoding", "identity"), UserAgent.header]
    let request = RemoteRequest(.get, source.url, headers: common + headers, maximumResponseByteCount: limit)
    do {
      return try await caller.send(isIdempotent: true, { request }, classify: classify)
    } catch RemoteCaller.Failure.transport(let error) where error.code == .tooLarge {
      return nil
    } catch {
      throw Self.failure(error, at: source.place)
    }
  }

  // MARK: Classification

  private static func classifyPart(
    _ response: RemoteResponse, of source: ContentSource, at offset: Int64, count: Int
  ) -> RemoteCaller.Outcome<Piece> {
    guard let range = response.header("Content-Range").flatMap({ ContentRange($0) }) else {
      return .failed(source.error(.malformedResponse, "The server does not say which part it sends."))
    }
    guard range.first == offset, range.count <= Int64(count) else {
      return .failed(source.error(.malformedResponse, "The server sends another part than was asked for."))
    }
    guard range.count == Int64(response.body.count) else {
      let message = "The server says that it sends \(range.count) bytes, and sends \(response.body.count)."
      return .retry(source.error(.unreachable, message), notBefore: nil, isProcessed: true)
    }
    guard range.total ?? source.length == source.length else {
      return .failed(source.lengthMismatch(range.total))
    }
    return .done(.part(response.body, validator: strongValidator(response)))
  }

  private func classifyWhole(
    _ response: RemoteResponse, of source: ContentSource
  ) -> RemoteCaller.Outcome<Piece> {
    if response.status == 200 {
      guard response.body.count == source.length else {
        return .failed(source.lengthMismatch(Int64(response.body.count)))
      }
      return .done(.whole(response.body, validator: Self.strongValidator(response)))
    }
    guard response.isTemporaryFailure else {
      return .failed(source.error(.refused, "The server does not give it (HTTP status \(response.status))."))
    }
    return .retry(
      source.error(.unreachable, "The server refuses for now (HTTP status \(response.status))."),
      notBefore: response.retryAfter(now: caller.time.now()), isProcessed: true)
  }

  /// The entity tag, if it is a strong validator (RFC 9110 section 8.8.3).
  private static func strongValidator(_ response: RemoteResponse) -> String? {
    guard let tag = response.header("ETag"), 2...256 ~= tag.utf8.count, tag.hasPrefix("\""),
      tag.hasSuffix("\""), tag.utf8.allSatisfy({ 0x21..<0x7F ~= $0 })
    else { return nil }
    return tag
  }

  private static func failure(_ error: any Error, at place: String) -> DownloadError {
    switch error {
    case let error as DownloadError: error
    case let failure as RemoteCaller.Failure:
      switch failure {
      case .transport, .deadlineExceeded: DownloadError(.unreachable, at: place, failure.description)
      case .redirected: DownloadError(.refused, at: place, failure.description)
      case .cancelled: DownloadError(.cancelled, at: place, failure.description)
      }
    // The only other error is cancellation.
    default: DownloadError(.cancelled, at: place, "The task was cancelled.")
    }
  }
}

/// The range that a 206 response contains (`Content-Range`, RFC 9110 section 14.4): `bytes 0-99/1234`.
struct ContentRange: Sendable, Hashable {
  let first: Int64
  let last: Int64
  /// The length of the whole content; `nil` for `*`, which means unknown.
  let total: Int64?

  /// Reads a range; `nil` if it ends before it begins or exceeds the length, and for `*/1234`, which has no range.
  init?(_ header: String) {
    let form = #/(?i:bytes) ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)/#
    guard let match = header.wholeMatch(of: form), let first = Int64(match.1), let last = Int64(match.2),
      first <= last
    else { return nil }
    total = Int64(match.3)
    guard last < total ?? .max else { return nil }
    self.first = first
    self.last = last
  }

  var count: Int64 { last - first + 1 }
}

/// Content with a valid description: an address that may be requested, a length and a digest.
struct ContentSource: Sendable, Hashable {
  let url: RemoteURL
  let length: Int64
  let sha256: [UInt8]

  /// The URL without its query, which may contain credentials.
  var place: String {
    var url = url
    url.query = nil
    return url.description
  }

  func error(_ code: DownloadError.Code, _ message: String) -> DownloadError {
    DownloadError(code, at: place, message)
  }

  func lengthMismatch(_ found: Int64?) -> DownloadError {
    error(
      .lengthMismatch,
      "The store says \(length) bytes, the server has \(found.map { String($0) } ?? "more").")
  }

  init(_ content: DownloadableContent) throws(DownloadError) {
    let place = content.contentIdentifier
    do { url = try RemoteURL(content.url) } catch {
      throw DownloadError(.invalidContent, at: place, error.description)
    }
    try DownloadError.require(
      content.contentLength >= 0 && content.contentLength <= 1 << 50, .invalidContent, at: place,
      "A length of \(content.contentLength) bytes cannot be right.")
    try DownloadError.require(
      content.sha256.count == 32, .invalidContent, at: place, "The SHA-256 has not 32 bytes.")
    length = content.contentLength
    sha256 = content.sha256
  }
}
