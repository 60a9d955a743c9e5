// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptBytes
import ReceiptHTTP
import Synchronization

/// A server of a few lines on loopback that keeps what came over the wire, and answers what it is told to.
final class RecordingServer: Sendable {
  struct Request: Sendable {
    var line = ""
    var headers: [HTTPHeader] = []
    var body: [UInt8] = []

    func header(_ name: String) -> String? {
      headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
  }

  struct Failure: Error { let reason: String }

  let port: UInt16
  private let socket: Int32
  private let answer = Mutex<[UInt8]>([])
  private let received = Mutex<[Request]>([])
  private let respond: (@Sendable (Request) -> [UInt8]?)?

  /// `respond` answers each request on a thread of its own, with `nil` for a connection that is closed instead; what
  /// it answers is not kept.
  init(respond: (@Sendable (Request) -> [UInt8]?)? = nil) throws {
    self.respond = respond
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = socket
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, length) == 0 && listen(descriptor, 16) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else { throw Failure(reason: "no port on loopback") }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread {
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        Thread.detachNewThread { self.serve(connection) }
      }
    }
  }

  deinit { close() }

  func close() { _ = shutdown(socket, Int32(SHUT_RDWR)) }

  /// Returns the requests received since the last call, and answers the next ones with this status and body.
  func take(answering status: Int, _ body: String) -> [Request] {
    answer.withLock { $0 = Self.answer(status, body) }
    return received.withLock { requests in
      defer { requests = [] }
      return requests
    }
  }

  static func answer(_ status: Int, _ body: String = "") -> [UInt8] {
    let head =
      "HTTP/1.1 \(status) Status\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
    return Array((head + body).utf8)
  }

  private func answer(to request: Request) -> [UInt8]? {
    if let respond { return respond(request) }
    received.withLock { $0.append(request) }
    return answer.withLock { $0 }
  }

  private func serve(_ connection: Int32) {
    var buffer: [UInt8] = []
    while let request = next(connection, &buffer) {
      guard let bytes = answer(to: request) else { break }
      guard unsafe write(connection, bytes, bytes.count) == bytes.count else { break }
    }
    _ = Glibc.close(connection)
  }

  private func next(_ connection: Int32, _ buffer: inout [UInt8]) -> Request? {
    var request: Request?
    var bodyStart = 0
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if request == nil, let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
        let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        var parsed = Request()
        parsed.line = lines[0]
        parsed.headers = lines.dropFirst().compactMap { line in
          guard let colon = line.firstIndex(of: ":") else { return nil }
          return HTTPHeader(
            String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
        request = parsed
        bodyStart = end.upperBound
      }
      if var complete = request {
        let length = complete.header("Content-Length").flatMap { Int($0) } ?? 0
        if buffer.count >= bodyStart + length {
          complete.body = Array(buffer[bodyStart..<bodyStart + length])
          buffer.removeFirst(bodyStart + length)
          return complete
        }
      }
      let count = unsafe read(connection, &piece, piece.count)
      guard count > 0 else { return nil }
      buffer += piece[..<count]
    }
  }
}
