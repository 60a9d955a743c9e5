// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptHTTP

/// A transport without a network: a closure answers.
struct AnsweringTransport: HTTPTransport {
  let answer: @Sendable (RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse

  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    try await answer(request)
  }
}

/// A folder that is removed after the test.
final class ScratchFolder: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "receiptkit-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appending(path: name).path }
}
