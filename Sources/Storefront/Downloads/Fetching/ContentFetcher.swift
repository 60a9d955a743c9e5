// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptHTTP

/// Fetches content from a server by range requests: the transport reads whole responses, so ranges bound memory.
struct ContentFetcher: Sendable {
  let caller: RemoteCaller

  init(transport: any HTTPTransport, retry: RetryPolicy, time: RemoteTime) {
    caller = RemoteCaller(transport: transport, policy: retry, time: time)
  }

  /// The content of a response.
  enum Piece: Sendable {
    /// The requested range or its beginning, with the length and the strong validator of the whole content.
    case part([UInt8], of: Int64?, validator: String?)
    /// All of the content, though a range was requested.
    case whole([UInt8], validator: String?)
    /// The response is longer than the requested range: the server ignores ranges.
    case exceedsLimit
    /// The content ends before the requested range.
    case unsatisfiable
  }

  /// Requests a range.
  ///
  /// - Parameters:
  ///   - url: The address of the content.
  ///   - offset: The first byte.
  ///   - count: The number of bytes, at least 1. The server may send fewer.
  ///   - validator: The validator of the bytes received before: if it has changed, the server sends the whole content.
  /// - Returns: The content of the response.
  /// - Throws: ``DownloadError`` without a usable response.
  func part(
    of url: RemoteURL, at offset: Int64, count: Int, validator: String?
  ) async throws(DownloadError) -> Piece {
    var headers = [HTTPHeader("Range", "bytes=\(offset)-\(offset + Int64(count) - 1)")]
    if offset > 0, let validator { headers.append(HTTPHeader("If-Range", validator)) }
    let request = Self.request(url, headers, limit: count)
    return try await send(request, url) { response in
      switch response.status {
      case 206: Self.classifyPart(response, at: offset, count: count)
      case 416: .done(.unsatisfiable)
      default: classifyWhole(response)
      }
    }
  }

  /// Requests the whole content.
  func whole(of url: RemoteURL, limit: Int) async throws(DownloadError) -> Piece {
    try await send(Self.request(url, [], limit: limit), url, classifyWhole)
  }

  private static func request(_ url: RemoteURL, _ headers: [HTTPHeader], limit: Int) -> RemoteRequest {
    // Ranges and lengths are those of the unencoded content.
    let common = [HTTPHeader("Accept-Encoding", "identity"), UserAgent.header]
    return RemoteRequest(.get, url, headers: common + headers, maximumResponseByteCount: limit)
  }

  private func send(
    _ request: RemoteRequest, _ url: RemoteURL, _ classify: (RemoteResponse) -> RemoteCaller.Outcome<Piece>
  ) async throws(DownloadError) -> Piece {
    do {
      return try await caller.send(isIdempotent: true, { request }, classify: classify)
    } catch RemoteCaller.Failure.transport(let error) where error.code == .tooLarge {
      return .exceedsLimit
    } catch {
      throw Self.failure(error, at: Self.place(url))
    }
  }

  // MARK: Classification

  private static func classifyPart(
    _ response: RemoteResponse, at offset: Int64, count: Int
  ) -> RemoteCaller.Outcome<Piece> {
    guard let range = response.header("Content-Range").flatMap({ ContentRange($0) }) else {
      return .failed(Fault(.malformedResponse, "The server does not say which part it sends."))
    }
    guard range.first == offset, range.count <= Int64(count) else {
      return .failed(Fault(.malformedResponse, "The server sends another part than was asked for."))
    }
    guard range.count == Int64(response.body.count) else {
      return again("The server says that it sends \(range.count) bytes, and sends \(response.body.count).")
    }
    return .done(.part(response.body, of: range.total, validator: strongValidator(response)))
  }

  private func classifyWhole(_ response: RemoteResponse) -> RemoteCaller.Outcome<Piece> {
    let status = response.status
    switch status {
    case 200: return .done(.whole(response.body, validator: Self.strongValidator(response)))
    case _ where response.isTemporaryFailure:
      let instant = response.retryAfter(now: caller.time.now())
      return Self.again("The server refuses for now (HTTP status \(status)).", notBefore: instant)
    default: return .failed(Fault(.refused, "The server does not give it (HTTP status \(status))."))
    }
  }

  /// The entity tag, if it is a strong validator (RFC 9110 section 8.8.3).
  private static func strongValidator(_ response: RemoteResponse) -> String? {
    guard let tag = response.header("ETag"), 2...256 ~= tag.utf8.count, tag.hasPrefix("\""),
      tag.hasSuffix("\""),
      tag.utf8.allSatisfy({ 0x21..<0x7F ~= $0 })
    else { return nil }
    return tag
  }

  // MARK: Errors

  /// An error without its place, which the caller adds.
  private struct Fault: Error {
    let code: DownloadError.Code
    let message: String

    init(_ code: DownloadError.Code, _ message: String) {
      self.code = code
      self.message = message
    }
  }

  private static func again(
    _ message: String, notBefore: Timestamp? = nil
  ) -> RemoteCaller.Outcome<Piece> {
    .retry(Fault(.unreachable, message), notBefore: notBefore, isProcessed: true)
  }

  private static func failure(_ error: any Error, at place: String) -> DownloadError {
    switch error {
    case let fault as Fault: DownloadError(fault.code, at: place, fault.message)
    case RemoteCaller.Failure.transport(let error):
      DownloadError(.unreachable, at: place, "The content cannot be fetched (\(error)). Try again later.")
    case RemoteCaller.Failure.deadlineExceeded:
      DownloadError(.unreachable, at: place, "The server did not answer in time. Try again later.")
    case RemoteCaller.Failure.redirected(let status, _, let followed):
      DownloadError(
        .refused, at: place,
        "The server redirects elsewhere (HTTP status \(status))\(RemoteCaller.Failure.afterRedirects(followed))."
      )
    // The only other error is cancellation.
    default: DownloadError(.cancelled, at: place, "The task was cancelled.")
    }
  }

  /// A URL without its query, which may hold credentials.
  static func place(_ url: RemoteURL) -> String {
    var url = url
    url.query = nil
    return url.description
  }
}

/// The range that a 206 response contains (`Content-Range`, RFC 9110 section 14.4): `bytes 0-99/1234`.
struct ContentRange: Sendable, Hashable {
  let first: Int64
  let last: Int64
  /// The length of the whole; `nil` for `*`, which means unknown.
  let total: Int64?

  /// - Returns: `nil` for any other text, for `*/1234`, which has no range, and for a range that ends before it begins
  ///   or exceeds the length.
  init?(_ header: String) {
    let words = header.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last
    else { return nil }
    if halves[1] == "*" {
      total = nil
    } else {
      guard let whole = Self.number(halves[1]), last < whole else { return nil }
      total = whole
    }
    self.first = first
    self.last = last
  }

  var count: Int64 { last - first + 1 }

  /// Reads digits only: `Int64` would also accept a sign.
  private static func number(_ text: Substring) -> Int64? {
    guard 1...18 ~= text.utf8.count, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
    else { return nil }
    return Int64(text)
  }
}

/// Content whose description is valid: an address that may be requested, a length and a digest.
struct ContentSource: Sendable, Hashable {
  let url: RemoteURL
  let length: Int64
  let sha256: [UInt8]

  init(_ content: DownloadableContent) throws(DownloadError) {
    let place = content.contentIdentifier
    do throws(RemoteURL.Failure) {
      url = try RemoteURL(content.url)
    } catch {
      throw DownloadError(.invalidContent, at: place, error.description)
    }
    guard content.contentLength >= 0, content.contentLength <= 1 << 50 else {
      throw DownloadError(
        .invalidContent, at: place, "A length of \(content.contentLength) bytes cannot be right.")
    }
    guard content.sha256.count == 32 else {
      throw DownloadError(.invalidContent, at: place, "The SHA-256 has not 32 bytes.")
    }
    length = content.contentLength
    sha256 = content.sha256
  }
}
