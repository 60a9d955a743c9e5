// SPDX-License-Identifier: Apache-2.0

// Callers need this module to create the transport and its URL.
@_exported public import ReceiptHTTP
internal import ReceiptBytes
internal import ReceiptCodec

/// Calls the API of receipt-server.
///
/// ```swift
/// let client = ReceiptServerClient(
///   at: try RemoteURL("https://receipts.example.com"), key: Secret(key), app: "shop", transport: transport)
/// let verdict = try await client.verify(receipt)
/// for purchase in verdict.activePurchases { grant(purchase.productId) }
/// ```
///
/// Each operation of the API is a method. A call is sent again, with growing delays, if the server did not answer or
/// asks for it, and if sending it twice does no harm. Redirects to another address are not followed, so that the key
/// goes to no other server. Any number of tasks may use one client at once. The caller shuts down the transport.
public struct ReceiptServerClient: Sendable {
  /// The address of the server.
  public let base: RemoteURL
  /// The app of calls that name none, by its name in the configuration of the server.
  public let app: String?
  private let key: Secret?
  private let caller: RemoteCaller
  private let maximumAnswerByteCount: Int

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - base: The address of the server.
  ///   - key: The key, `rk_…`; `nil` for the operations that need none.
  ///   - app: The app of calls that name none, for keys that are not confined to one.
  ///   - transport: Sends the requests.
  ///   - retry: The retry policy.
  ///   - maximumAnswerByteCount: The greatest length of an answer.
  ///   - time: The clocks and random numbers; the system's by default.
  public init(
    at base: RemoteURL, key: Secret?, app: String? = nil, transport: any HTTPTransport,
    retry: RetryPolicy = RetryPolicy(), maximumAnswerByteCount: Int = 8 << 20, time: RemoteTime = .system
  ) {
    self.base = base
    self.key = key
    self.app = app
    self.maximumAnswerByteCount = maximumAnswerByteCount
    caller = RemoteCaller(transport: transport, policy: retry, time: time)
  }

  /// Sends a call, again if necessary. `known` is the answer that is returned if the server says that it still holds, and
  /// `tag` its `ETag`.
  func send<Answer: ServerAnswer>(
    _ call: ServerCall, known: Answer? = nil, tag: String? = nil
  ) async throws(ReceiptServerError) -> Answer {
    let url = try call.url(at: base, app: app)
    let trace = ServerCall.randomDigits(32)
    do {
      return try await caller.send(
        isIdempotent: call.isIdempotent, { request(call, url, trace: trace, tag: tag) },
        classify: { outcome(of: $0, call, known: known, trace: trace) })
    } catch let error as ReceiptServerError {
      throw error
    } catch {
      throw ReceiptServerError(error, call.operation, trace: trace)
    }
  }

  private func request(_ call: ServerCall, _ url: RemoteURL, trace: String, tag: String?) -> RemoteRequest {
    var headers = [
      HTTPHeader("Accept", call.accept), UserAgent.header,
      // W3C Trace Context, section 3.2: the server logs the trace.
      HTTPHeader("traceparent", "00-\(trace)-\(ServerCall.randomDigits(16))-01"),
    ]
    if call.isKeyed, let key { headers.append(HTTPHeader("Authorization", "Bearer \(key.text)")) }
    if let tag { headers.append(HTTPHeader("If-None-Match", tag)) }
    if let body = call.body { headers.append(HTTPHeader("Content-Type", body.contentType)) }
    var request = RemoteRequest(call.method, url, headers: headers, body: call.body?.bytes)
    request.maximumResponseByteCount = maximumAnswerByteCount
    return request
  }

  private func outcome<Answer: ServerAnswer>(
    of response: RemoteResponse, _ call: ServerCall, known: Answer?, trace: String
  ) -> RemoteCaller.Outcome<Answer> {
    if response.status == 304, let known { return .done(known) }
    if response.status / 100 == 2 {
      do throws(MalformedReceipt) {
        return .done(try Answer.read(response))
      } catch {
        return .failed(
          ReceiptServerError(
            .unexpected, "The answer is not what the API says: \(error.message)", operation: call.operation,
            status: response.status, traceID: trace))
      }
    }
    let retryAfter = response.retryAfter(now: caller.time.now())
    let error = ReceiptServerError(response, call.operation, retryAfter: retryAfter, trace: trace)
    guard Self.retryableStatuses.contains(response.status) else { return .failed(error) }
    // A request that came too often had no effect.
    return .retry(error, notBefore: retryAfter, isProcessed: response.status != 429)
  }

  /// Verifies receipts, in requests of as many as fit one.
  ///
  /// - Parameters:
  ///   - receipts: The receipts, each of which is one line: base64 and JSON without line breaks.
  ///   - policy: The policy, by its name in the configuration; `default` without.
  ///   - app: The app, by its name, for keys that are not confined to one.
  /// - Returns: A verdict for each receipt, in their order; `index` counts from 0.
  /// - Throws: ``ReceiptServerError``.
  public func verifyBatch(
    _ receipts: [[UInt8]], policy: String? = nil, app: String? = nil
  ) async throws(ReceiptServerError) -> [ServerVerdict] {
    var verdicts: [ServerVerdict] = []
    var lines: [UInt8] = []
    var count = 0
    for (index, receipt) in receipts.enumerated() {
      guard !receipt.isEmpty, !receipt.contains(where: { $0 == 0x0A || $0 == 0x0D }) else {
        throw ReceiptServerError(
          .invalid, "Receipt \(index) is empty, or has several lines.", operation: "verifyBatch")
      }
      if count > 0, lines.count + receipt.count >= Self.maximumBatchByteCount {
        verdicts += try await verdictsOf(lines, count, first: verdicts.count, policy, app)
        (lines, count) = ([], 0)
      }
      lines += receipt + [0x0A]
      count += 1
    }
    if count > 0 { verdicts += try await verdictsOf(lines, count, first: verdicts.count, policy, app) }
    return verdicts
  }

  /// The length of a request with several receipts, whose answer is well below the limit of answers.
  private static let maximumBatchByteCount = 1 << 18

  private func verdictsOf(
    _ lines: [UInt8], _ count: Int, first: Int, _ policy: String?, _ app: String?
  ) async throws(ReceiptServerError) -> [ServerVerdict] {
    let answer: [UInt8] = try await send(
      ServerCall(
        "verifyBatch", .post, "/v1/verify/batch", query: [("policy", policy), ("app", app)],
        accept: "application/jsonl", body: .receipt(lines)))
    var verdicts: [ServerVerdict] = []
    for line in answer.split(separator: 0x0A) {
      guard
        var verdict = try? ServerVerdict.read(RemoteResponse(status: 200, body: Array(line))),
        verdict.index == Int64(verdicts.count)
      else { break }
      verdict.index = Int64(first + verdicts.count)
      verdicts.append(verdict)
    }
    guard verdicts.count == count, answer.split(separator: 0x0A).count == count else {
      throw ReceiptServerError(
        .unexpected, "The answer does not have a verdict for each receipt, in their order.",
        operation: "verifyBatch", status: 200)
    }
    return verdicts
  }
}
