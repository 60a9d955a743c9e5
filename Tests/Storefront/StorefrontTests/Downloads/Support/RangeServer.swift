// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptBytes
import Synchronization

/// A server of one file on the loopback address with range requests (RFC 9110 sections 13.1.5 and 14), whose
/// connections can be made to fail.
final class RangeServer: Sendable {
  /// The delivery of an answer.
  enum Fate: Sendable, Equatable {
    case whole
    /// The connection is closed after this number of bytes of the body.
    case breaks(after: Int)
    /// After this number of bytes of the body nothing is sent until the client disconnects.
    case stalls(after: Int)
  }

  /// A client's request and the answer.
  struct Exchange: Sendable, Equatable {
    var range: String?
    var ifRange: String?
    var status: Int
    var sentByteCount: Int
  }

  struct Failure: Error { let reason: String }

  private struct State {
    var content: [UInt8]
    var tag: String
    var fates: [Fate] = []
    var isDown = false
    var exchanges: [Exchange] = []
    var stalled = 0
    var hangUps = 0
  }

  let port: UInt16
  private let socket: Int32
  private let state: Mutex<State>

  init(_ content: [UInt8], tag: String) throws {
    state = Mutex(State(content: content, tag: tag))
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
    Thread.detachNewThread { [weak self] in
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0, let server = self else { return }
        Thread.detachNewThread {
          server.serve(connection)
          close(connection)
        }
      }
    }
  }

  deinit { stop() }

  func stop() { _ = shutdown(socket, Int32(SHUT_RDWR)) }

  var url: String { "http://127.0.0.1:\(port)/content" }

  var exchanges: [Exchange] { state.withLock { $0.exchanges } }

  /// The number of answers that stopped half-way.
  var stalled: Int { state.withLock { $0.stalled } }

  /// The number of clients that disconnected from a stopped answer.
  var hangUps: Int { state.withLock { $0.hangUps } }

  /// The deliveries of the next answers; later ones are complete.
  func plan(_ fates: [Fate]) { state.withLock { $0.fates = fates } }

  /// Closes every connection without an answer, or answers again.
  func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

  /// Serves other content from now on.
  func replace(_ content: [UInt8], tag: String) {
    state.withLock {
      $0.content = content
      $0.tag = tag
    }
  }

  // MARK: Serving

  private func serve(_ connection: Int32) {
    var buffer: [UInt8] = []
    while let head = nextHead(connection, &buffer) {
      guard let (answer, fate, number) = answer(to: head) else { return }
      let sent = state.withLock { $0.exchanges[number].sentByteCount }
      guard send(answer.head + answer.body.prefix(sent), over: connection) else { return }
      switch fate {
      case .whole: break
      case .breaks: return
      case .stalls:
        state.withLock { $0.stalled += 1 }
        var byte: UInt8 = 0
        while unsafe read(connection, &byte, 1) > 0 {}
        state.withLock { $0.hangUps += 1 }
        return
      }
    }
  }

  private func answer(to head: String) -> (answer: (head: [UInt8], body: [UInt8]), fate: Fate, number: Int)? {
    let lines = head.components(separatedBy: "\r\n")
    func header(_ name: String) -> String? {
      let prefix = name.lowercased() + ":"
      return lines.first { $0.lowercased().hasPrefix(prefix) }
        .map { $0.dropFirst(prefix.count).trimmingCharacters(in: .whitespaces) }
    }
    guard lines[0].hasPrefix("GET /content ") else { return nil }
    return state.withLock { state in
      if state.isDown { return nil }
      let content = state.content
      var status = 200
      var fields = ["ETag: \(state.tag)", "Accept-Ranges: bytes"]
      var body = content
      let condition = header("If-Range")
      let range = header("Range")
      if let range, condition == nil || condition == state.tag {
        let ends = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        if ends.count == 2, ends[0] < content.count, ends[0] <= ends[1] {
          let last = min(ends[1], content.count - 1)
          status = 206
          body = Array(content[ends[0]...last])
          fields.append("Content-Range: bytes \(ends[0])-\(last)/\(content.count)")
        } else {
          status = 416
          body = []
          fields.append("Content-Range: bytes */\(content.count)")
        }
      }
      fields.append("Content-Length: \(body.count)")
      let fate = state.fates.isEmpty ? .whole : state.fates.removeFirst()
      let sent =
        switch fate {
        case .whole: body.count
        case .breaks(let count), .stalls(let count): min(count, body.count)
        }
      state.exchanges.append(
        Exchange(range: range, ifRange: condition, status: status, sentByteCount: sent))
      let head = "HTTP/1.1 \(status) Status\r\n" + fields.joined(separator: "\r\n") + "\r\n\r\n"
      return ((Array(head.utf8), body), fate, state.exchanges.count - 1)
    }
  }

  private func send(_ bytes: [UInt8], over connection: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      // A disconnected client must not cause a signal.
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// A request without a body, up to its empty line.
  private func nextHead(_ connection: Int32, _ buffer: inout [UInt8]) -> String? {
    var piece = [UInt8](repeating: 0, count: 1 << 12)
    while true {
      if let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
        defer { buffer.removeSubrange(..<end.upperBound) }
        return String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
      }
      let count = unsafe read(connection, &piece, piece.count)
      guard count > 0 else { return nil }
      buffer += piece[..<count]
    }
  }
}
