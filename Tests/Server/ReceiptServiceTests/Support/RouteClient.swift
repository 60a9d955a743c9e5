// SPDX-License-Identifier: Apache-2.0

#if Server
  import Foundation
  import HTTPTypes
  import Hummingbird
  import Logging
  import NIOCore
  import NIOEmbedded
  import ReceiptCodec
  @testable import ReceiptService
  import Synchronization

  /// Makes requests to the routes of a service without a network.
  struct RouteClient: Sendable {
    let api: ReceiptAPI
    private let responder: RouterResponder<ServiceContext>

    init(_ api: ReceiptAPI) {
      self.api = api
      let router = Router(context: ServiceContext.self)
      api.addRoutes(to: router)
      responder = router.buildResponder()
    }

    /// The bytes that a body has written so far.
    final class Output: Sendable {
      private let bytes = Mutex<[UInt8]>([])
      private let finished = Mutex(false)

      var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
      var isFinished: Bool { finished.withLock { $0 } }

      fileprivate func append(_ buffer: ByteBuffer) {
        bytes.withLock { $0 += buffer.getBytes(at: buffer.readerIndex, length: buffer.readableBytes) ?? [] }
      }
      fileprivate func finish() { finished.withLock { $0 = true } }
    }

    private struct Writer: ResponseBodyWriter {
      let output: Output

      mutating func write(_ buffer: ByteBuffer) async throws { output.append(buffer) }
      consuming func finish(_ trailingHeaders: HTTPFields?) async throws { output.finish() }
    }

    /// The head of the answer.
    func send(
      _ method: HTTPRequest.Method, _ path: String, key: String, headers: [String: String] = [:],
      body: [UInt8] = [], on channel: any Channel = EmbeddedChannel()
    ) async throws -> Response {
      var fields = HTTPFields()
      fields[.authorization] = "Bearer \(key)"
      for (name, value) in headers {
        if let name = HTTPField.Name(name) { fields[name] = value }
      }
      let head = HTTPRequest(method: method, scheme: "http", authority: "a", path: path, headerFields: fields)
      let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body)))
      return try await responder.respond(
        to: request,
        context: ServiceContext(
          source: ApplicationRequestContextSource(
            channel: channel, logger: Logger(label: "routes") { _ in SwiftLogNoOpLogHandler() })))
    }

    /// The answer with its body, which ends.
    func json(
      _ method: HTTPRequest.Method, _ path: String, key: String, headers: [String: String] = [:],
      body: [UInt8] = []
    ) async throws -> (status: Int, value: JSONValue) {
      let response = try await send(method, path, key: key, headers: headers, body: body)
      return (response.status.code, try JSONValue(parsing: Array(try await text(of: response).utf8)))
    }

    /// The body of an answer, which ends.
    func text(of response: Response) async throws -> String {
      let output = Output()
      try await response.body.write(Writer(output: output))
      return output.text
    }

    /// Reads the body of an answer while `body` runs.
    func reading(_ response: Response, _ body: (Output) async throws -> Void) async throws {
      let output = Output()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await response.body.write(Writer(output: output)) }
        try await body(output)
        group.cancelAll()
      }
    }
  }
#endif
