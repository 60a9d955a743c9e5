// SPDX-License-Identifier: Apache-2.0

#if Server
  import NIOCore
  import NIOHTTP1
  import ReceiptBytes
  import ReceiptCodec
  import ReceiptVerification

  /// A part of a request, or the reason to refuse bytes that are not a request.
  enum RequestPart: Sendable {
    case head(HTTPRequestHead)
    case body(ByteBuffer)
    case end
    case malformed(RequestRefusal)
  }

  /// The reason why the server itself answers a request and closes the connection.
  struct RequestRefusal: Error {
    let status: Int
    let reason: String

    init(_ status: Int, _ reason: String) {
      self.status = status
      self.reason = reason
    }
  }

  /// Turns the decoder's error into a part, so that requests before it are answered first.
  final class RequestPartHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = RequestPart

    private var hasFailed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let part: RequestPart =
        switch unwrapInboundIn(data) {
        case .head(let head): .head(head)
        case .body(let bytes): .body(bytes)
        case .end: .end
        }
      context.fireChannelRead(wrapInboundOut(part))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      // After its first error, the decoder reports further input as further errors.
      if hasFailed { return }
      let refusal: RequestRefusal
      switch error as? HTTPParserError {
      case nil, .invalidEOFState, .closedConnection: return context.fireErrorCaught(error)
      case .headerOverflow: refusal = RequestRefusal(431, "The head is too long.")
      case .invalidVersion: refusal = RequestRefusal(505, "The version is not HTTP/1.1.")
      case .some(let error): refusal = RequestRefusal(400, "This is not an HTTP request (\(error)).")
      }
      hasFailed = true
      context.fireChannelRead(wrapInboundOut(.malformed(refusal)))
    }
  }

  /// Writes a line to standard error for each request: time, method, path, status, milliseconds, and the fault.
  struct RequestLog: Sendable {
    func record(
      _ method: String, _ target: String, status: Int?, fault: String?, since start: ContinuousClock.Instant
    ) {
      let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
      var line =
        "\(SystemClock.now().iso8601) \(method) \(ShownText.plain(target, limit: Self.longestTarget)) "
        + "\(status.map { String($0) } ?? "-") \(Int(milliseconds.rounded())) ms"
      if let fault { line += " fault \(fault)" }
      ToolFailure.write(line + "\n", to: 2)
    }

    private static let longestTarget = 500
  }
#endif
