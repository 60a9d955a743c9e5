// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptHTTP
import Storefront

/// A server of product lists, as a transport: its files may change, and it may be down.
actor ListServer: HTTPTransport {
  typealias Answer = @Sendable (RemoteRequest) -> Result<RemoteResponse, HTTPTransportError>

  private var answer: Answer
  private(set) var requests: [RemoteRequest] = []
  private(set) var cameOnMainThread = false

  init(_ answer: @escaping Answer) { self.answer = answer }

  init(_ body: String, etag: String? = nil, lastModified: String? = nil) {
    answer = Self.file(body, etag: etag, lastModified: lastModified)
  }

  func answers(_ answer: @escaping Answer) { self.answer = answer }

  func has(_ body: String, etag: String? = nil, lastModified: String? = nil) {
    answer = Self.file(body, etag: etag, lastModified: lastModified)
  }

  /// A file with validators: matching conditional requests are answered with 304.
  private static func file(_ body: String, etag: String?, lastModified: String?) -> Answer {
    { request in
      var headers: [HTTPHeader] = []
      if let etag { headers.append(HTTPHeader("ETag", etag)) }
      if let lastModified { headers.append(HTTPHeader("Last-Modified", lastModified)) }
      // If-Modified-Since is only heeded without If-None-Match (RFC 9110 section 13.1.3).
      let known = request.value("If-None-Match")
      let isSame =
        known != nil
        ? known == etag : lastModified != nil && request.value("If-Modified-Since") == lastModified
      return .success(
        isSame
          ? RemoteResponse(status: 304, headers: headers)
          : RemoteResponse(status: 200, headers: headers, body: Array(body.utf8)))
    }
  }

  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    requests.append(request)
    return try answer(request).get()
  }
}

extension RemoteRequest {
  func value(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
}

/// Clocks that do not wait.
func instantTime(_ now: @escaping @Sendable () -> Timestamp) -> RemoteTime {
  RemoteTime(now: now, elapsed: { .zero }, sleep: { _ in try Task.checkCancellation() }, random: { 0.5 })
}

/// A folder that is removed after the test.
final class ListFolder {
  let url = FileManager.default.temporaryDirectory.appending(path: "receiptkit-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  func write(_ text: String, to name: String) throws -> URL {
    let file = url.appending(path: name)
    try Data(text.utf8).write(to: file)
    return file
  }
}

/// The error of an operation that must fail.
func identifierError(_ body: () throws(ProductIdentifierError) -> Void) -> ProductIdentifierError? {
  do throws(ProductIdentifierError) {
    try body()
    return nil
  } catch {
    return error
  }
}
