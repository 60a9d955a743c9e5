// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec

extension EmulatorDelivery {
  /// The delivery of a response without a fault.
  package init(_ response: RemoteResponse) {
    self.init([.send(response.serialized())], end: .keepOpen)
    status = response.status
  }

  init(_ response: RemoteResponse, _ fault: EmulatorFault?) {
    self = fault?.delivery(of: response) ?? EmulatorDelivery(response)
    status = response.status
    fault.map { self.fault = $0.name }
  }

  /// Ends the response after its head, as in an answer to HEAD (RFC 9110 section 9.3.2).
  package mutating func dropBody() {
    for (index, step) in steps.enumerated() {
      guard case .send(let bytes) = step, let end = bytes.firstRange(of: Self.newLine + Self.newLine) else {
        continue
      }
      steps[index] = .send(Array(bytes[..<end.upperBound]))
      steps.removeSubrange((index + 1)...)
      return
    }
  }

  /// Announces in the head of the response that the connection ends after it (RFC 9112 section 9.6).
  package mutating func announceClose() {
    guard let index = steps.firstIndex(where: { if case .send = $0 { true } else { false } }),
      case .send(var bytes) = steps[index], let lineEnd = bytes.firstRange(of: Self.newLine)
    else { return }
    bytes.insert(contentsOf: Array("Connection: close\r\n".utf8), at: lineEnd.upperBound)
    steps[index] = .send(bytes)
  }

  private static let newLine = Array("\r\n".utf8)
}

extension EmulatorFault {
  func delivery(of response: RemoteResponse) -> EmulatorDelivery {
    /// A response that ends with its connection.
    func closing(_ steps: EmulatorDelivery.Step..., end: EmulatorDelivery.End = .close) -> EmulatorDelivery {
      EmulatorDelivery(steps, end: end)
    }
    func text(_ text: String) -> EmulatorDelivery.Step { .send(Array(text.utf8)) }
    func prefix(_ count: Int) -> EmulatorDelivery.Step {
      .send(Array(response.serialized().prefix(max(0, count))))
    }
    func forever(_ text: String) -> EmulatorDelivery.Step { .sendForever(Array((text + "\r\n").utf8)) }
    let chunkedHead =
      response.statusLine + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return switch self {
    case .delay(let milliseconds):
      closing(.wait(milliseconds: max(0, milliseconds)), .send(response.serialized()), end: .keepOpen)
    case .neverAnswer: closing(.waitForEnd)
    case .cut(let count): closing(prefix(count))
    case .reset(let count): closing(prefix(count), end: .reset)
    case .contentLength(let off):
      closing(.send(response.serialized(contentLength: max(0, response.body.count &+ off), isLast: true)))
    case .brokenChunks: closing(text(chunkedHead + "5\r\nabcde\r\nzz\r\n}{][\r\n"))
    case .notHTTP: closing(text("220 mail.example.com ESMTP ready\r\n"))
    case .endlessBody:
      closing(text(chunkedHead), forever("4000\r\n" + String(repeating: " ", count: 0x4000)))
    case .endlessHead:
      closing(text(response.statusLine), forever("X-Padding: " + String(repeating: "x", count: 1000)))
    default: EmulatorDelivery(response)
    }
  }

  /// The response that replaces the correct one; `nil` if the fault modifies the correct response.
  func replacement(for request: EmulatorRequest, now: Timestamp) -> RemoteResponse? {
    switch self {
    case .status(let status, let form, let seconds):
      .text("Out of order.\n", status: min(max(status, 200), 599))
        .retryingAfter(form, seconds: seconds, now: now)
    case .error(let code, let form, let seconds):
      .refusal(Refusal(rawValue: code)).retryingAfter(form, seconds: seconds, now: now)
    case .rateLimit(_, let seconds):
      .refusal(.rateLimitExceeded).retryingAfter(.milliseconds, seconds: seconds, now: now)
    case .redirect(let target):
      RemoteResponse(
        status: 307,
        headers: [
          HTTPHeader(
            "Location", (target == .otherHost ? "https://other.example.com" : "") + request.target)
        ])
    case .wrongJSON:
      .json([
        "signedTransactionInfo": 1, "signedTransactions": "none", "data": true, "status": [JSONValue](),
      ])
    case .otherEndpoint: .json(["testNotificationToken": "of-another-endpoint"])
    case .receiptStatus(let status, let isRetryable):
      .json(["status": status, "is-retryable": isRetryable])
    default: nil
    }
  }
}

extension RemoteResponse {
  fileprivate func retryingAfter(
    _ form: EmulatorFault.RetryAfterForm?, seconds: Int, now: Timestamp
  ) -> RemoteResponse {
    guard let form else { return self }
    let then = now.addingSeconds(Double(seconds))
    var response = self
    let value =
      switch form {
      case .milliseconds: String(then.wholeMilliseconds)
      case .seconds: String(seconds)
      case .date: HTTPDate.text(then)
      }
    response.headers.append(HTTPHeader("Retry-After", value))
    return response
  }
}
