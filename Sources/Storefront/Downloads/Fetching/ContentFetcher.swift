// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptHTTP

/// Fetches content from a server, a part at a time: the transport reads whole responses, so that parts bound memory.
struct ContentFetcher: Sendable {
  let caller: RemoteCaller

  init(transport: any HTTPTransport, retry: RetryPolicy, time: RemoteTime) {
    caller = RemoteCaller(transport: transport, policy: retry, time: time)
  }

  /// What a server gave.
  enum Piece: Sendable {
    /// Bytes from where they were asked for on; the length and the strong validator of what they are part of.
    case part([UInt8], of: Int64?, validator: String?)
    /// All of the content, though a part was asked for.
    case whole([UInt8], validator: String?)
    /// More than was asked for: the server gives all at once.
    case moreThanAsked
    /// The content ends before what was asked for.
    case unsatisfiable
  }

  /// Asks for a part.
  ///
  /// - Parameters:
  ///   - url: Where the content is.
  ///   - offset: Where the part begins.
  ///   - count: How long it is, at least 1. Less may come.
  ///   - validator: What the parts before were of: if that has changed, the server sends the whole.
  /// - Returns: What the server gave.
  /// - Throws: ``DownloadError`` where it gave nothing, or what cannot be used.
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

  /// Asks for the whole.
  func whole(of url: RemoteURL, limit: Int) async throws(DownloadError) -> Piece {
    try await send(Self.request(url, [], limit: limit), url, classifyWhole)
  }

  private static func request(_ url: RemoteURL, _ headers: [HTTPHeader], limit: Int) -> RemoteRequest {
    // Another encoding would have another length and other parts.
    let common = [HTTPHeader("Accept-Encoding", "identity"), UserAgent.header]
    return RemoteRequest(.get, url, headers: common + headers, maximumResponseByteCount: limit)
  }

  private func send(
    _ request: RemoteRequest, _ url: RemoteURL, _ classify: (RemoteResponse) -> RemoteCaller.Outcome<Piece>
  ) async throws(DownloadError) -> Piece {
    do {
      return try await caller.send(isIdempotent: true, { request }, classify: classify)
    } catch RemoteCaller.Failure.transport(let error) where error.code == .tooLarge {
      return .moreThanAsked
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
    case 408, 425, 429, 500...599:
      let instant = response.retryAfter(now: caller.time.now())
      return Self.again("The server refuses for now (HTTP status \(status)).", notBefore: instant)
    default: return .failed(Fault(.refused, "The server does not give it (HTTP status \(status))."))
    }
  }

  /// The entity tag, where it says that the bytes are the same and not only the meaning (RFC 9110 section 8.8.3).
  private static func strongValidator(_ response: RemoteResponse) -> String? {
    guard let tag = response.header("ETag"), 2...256 ~= tag.utf8.count, tag.hasPrefix("\""),
      tag.hasSuffix("\""),
      tag.utf8.allSatisfy({ 0x21..<0x7F ~= $0 })
    else { return nil }
    return tag
  }

  // MARK: Errors

  /// A fault, before it is known where.
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
    case RemoteCaller.Failure.redirected(let status, _):
      DownloadError(.refused, at: place, "The server redirects elsewhere (HTTP status \(status)).")
    // Nothing else is thrown but cancellation.
    default: DownloadError(.cancelled, at: place, "The task was cancelled.")
    }
  }

  /// A URL without its query, which may hold what grants access.
  static func place(_ url: RemoteURL) -> String {
    var url = url
    url.query = nil
    return url.description
  }
}
