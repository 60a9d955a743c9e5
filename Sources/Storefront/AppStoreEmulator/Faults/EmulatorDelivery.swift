// SPDX-License-Identifier: Apache-2.0

/// The delivery of an answer on the wire: the steps that the server takes, in order.
package struct EmulatorDelivery: Sendable, Hashable {
  /// One step.
  package enum Step: Sendable, Hashable {
    /// Waits for a duration.
    case wait(milliseconds: Int)
    /// Sends bytes.
    case send([UInt8])
    /// Sends the bytes repeatedly until the client disconnects.
    case sendForever([UInt8])
    /// Waits until the client disconnects.
    case waitForEnd
  }

  /// The state of the connection after the steps.
  package enum End: String, Sendable, Hashable, CaseIterable {
    /// It stays open for the next request.
    case keepOpen = "keep-open"
    /// It is closed.
    case close
    /// It is reset.
    case reset
  }

  /// The steps.
  package var steps: [Step]
  /// The state of the connection after the steps.
  package var end: End
  /// The status of the response, for a log.
  package private(set) var status: Int?
  /// The name of the fault, for a log.
  package private(set) var fault: String?

  /// Creates a delivery.
  package init(_ steps: [Step], end: End) {
    self.steps = steps
    self.end = end
  }

  /// The delivery of a response without a fault.
  package init(_ response: RemoteResponse) {
    self.init([.send(response.serialized())], end: .keepOpen)
    status = response.status
  }

  /// The delivery of a response, with a fault if there is one.
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
  /// The delivery of a response with the fault.
  func delivery(of response: RemoteResponse) -> EmulatorDelivery {
    switch self {
    case .delay(let milliseconds):
      EmulatorDelivery(
        [.wait(milliseconds: max(0, milliseconds)), .send(response.serialized())], end: .keepOpen)
    case .neverAnswer: EmulatorDelivery([.waitForEnd], end: .close)
    case .cut(let count):
      EmulatorDelivery([.send(Array(response.serialized().prefix(max(0, count))))], end: .close)
    case .reset(let count):
      EmulatorDelivery([.send(Array(response.serialized().prefix(max(0, count))))], end: .reset)
    case .contentLength(let off):
      EmulatorDelivery(
        [.send(response.serialized(contentLength: max(0, response.body.count &+ off), isLast: true))],
        end: .close)
    case .brokenChunks:
      EmulatorDelivery(
        [.send(Array((response.statusLine + Self.chunkedHead + "5\r\nabcde\r\nzz\r\n}{][\r\n").utf8))],
        end: .close)
    case .notHTTP:
      EmulatorDelivery([.send(Array("220 mail.example.com ESMTP ready\r\n".utf8))], end: .close)
    case .endlessBody:
      EmulatorDelivery(
        [
          .send(Array((response.statusLine + Self.chunkedHead).utf8)),
          .sendForever(Array(("4000\r\n" + String(repeating: " ", count: 0x4000) + "\r\n").utf8)),
        ], end: .close)
    case .endlessHead:
      EmulatorDelivery(
        [
          .send(Array(response.statusLine.utf8)),
          .sendForever(Array(("X-Padding: " + String(repeating: "x", count: 1000) + "\r\n").utf8)),
        ], end: .close)
    default: EmulatorDelivery(response)
    }
  }

  private static let chunkedHead = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
}
