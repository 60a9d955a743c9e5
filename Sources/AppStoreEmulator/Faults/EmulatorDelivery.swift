// SPDX-License-Identifier: Apache-2.0

/// How an answer goes over the wire, byte for byte: what a server does, in order.
public struct EmulatorDelivery: Sendable, Hashable {
  /// One thing to do.
  public enum Step: Sendable, Hashable {
    /// Waits.
    case wait(milliseconds: Int)
    /// Sends bytes.
    case send([UInt8])
    /// Sends the bytes again and again until the other side goes.
    case sendForever([UInt8])
    /// Does nothing until the other side goes.
    case waitForEnd
  }

  /// What becomes of the connection.
  public enum End: String, Sendable, Hashable, CaseIterable {
    /// It serves the next request.
    case keepOpen = "keep-open"
    /// It is closed.
    case close
    /// It is reset.
    case reset
  }

  /// What to do.
  public var steps: [Step]
  /// What then becomes of the connection.
  public var end: End

  /// Creates a delivery.
  public init(_ steps: [Step], end: End) {
    self.steps = steps
    self.end = end
  }

  /// A response without fault.
  public init(_ response: EmulatorResponse) { self.init([.send(response.serialized())], end: .keepOpen) }
}

extension EmulatorFault {
  /// How the response goes over the wire with the fault.
  func delivery(of response: EmulatorResponse) -> EmulatorDelivery {
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
