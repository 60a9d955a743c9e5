// SPDX-License-Identifier: Apache-2.0

import ReceiptHTTP
import Storefront

/// A server of one file with range requests (RFC 9110), whose behaviour can be changed.
actor ContentServer: HTTPTransport {
  /// The content and the behaviour.
  struct Resource: Sendable {
    var bytes: [UInt8]
    var tag: String? = "\"one\""
    /// `true` if it supports range requests.
    var givesParts = true
    /// `true` if it evaluates `If-Range`.
    var heedsIfRange = true
  }

  /// Changes the answer to the request of this number, from 0.
  typealias Twist =
    @Sendable (Int, RemoteRequest, RemoteResponse) throws(HTTPTransportError) -> RemoteResponse

  private let resource: @Sendable (Int) -> Resource
  private let twist: Twist
  private(set) var requests: [RemoteRequest] = []
  private var isHeld = false
  private var held: [CheckedContinuation<Void, Never>] = []

  init(
    _ resource: @escaping @Sendable (Int) -> Resource,
    twist: @escaping Twist = { _, _, response throws(HTTPTransportError) in response }
  ) {
    self.resource = resource
    self.twist = twist
  }

  init(
    _ bytes: [UInt8], twist: @escaping Twist = { _, _, response throws(HTTPTransportError) in response }
  ) {
    self.init({ _ in Resource(bytes: bytes) }, twist: twist)
  }

  /// The requested values of `Range`.
  var ranges: [String] { requests.map { request in header("Range", of: request) ?? "all" } }

  /// From now on no request is answered until ``release()``.
  func hold() { isHeld = true }

  func release() {
    isHeld = false
    for continuation in held { continuation.resume() }
    held = []
  }

  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    let number = requests.count
    requests.append(request)
    if isHeld { await withCheckedContinuation { held.append($0) } }
    if Task.isCancelled { throw HTTPTransportError(.cancelled, "cancelled") }
    let response = try twist(number, request, respond(request, resource(number)))
    guard response.body.count <= request.maximumResponseByteCount else {
      throw HTTPTransportError(.tooLarge, "more than \(request.maximumResponseByteCount)")
    }
    return response
  }

  private func header(_ name: String, of request: RemoteRequest) -> String? {
    request.headers.first { $0.name == name }?.value
  }

  private func respond(_ request: RemoteRequest, _ resource: Resource) -> RemoteResponse {
    let bytes = resource.bytes
    let tag = resource.tag.map { [HTTPHeader("ETag", $0)] } ?? []
    let whole = RemoteResponse(status: 200, headers: tag, body: bytes)
    guard resource.givesParts, let range = header("Range", of: request) else { return whole }
    if resource.heedsIfRange, let known = header("If-Range", of: request), known != resource.tag {
      return whole
    }
    let ends = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
    guard ends[0] < bytes.count else {
      return RemoteResponse(status: 416, headers: [HTTPHeader("Content-Range", "bytes */\(bytes.count)")])
    }
    let last = min(ends[1], bytes.count - 1)
    return RemoteResponse(
      status: 206, headers: tag + [HTTPHeader("Content-Range", "bytes \(ends[0])-\(last)/\(bytes.count)")],
      body: Array(bytes[ends[0]...last]))
  }
}
