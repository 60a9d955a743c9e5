// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Glibc

/// Accepts HTTP/1.1 POST requests (RFC 9112), one a connection, as a web server that terminates TLS forwards them.
///
/// A body needs a `Content-Length`; chunked bodies are refused with 411, as section 6.3 permits. Connections that are
/// too slow or send too much are closed.
struct HTTPListener {
  /// The parts of a request that matter here.
  struct Request {
    /// The path, without a query.
    let path: String
    /// The value of the header field `Authorization`; `nil` unless there is exactly one.
    let authorization: String?
    let body: [UInt8]
  }

  /// The error response to a request.
  struct Refusal: Error {
    let status: Int
    let message: String
  }

  private static let maximumHeadByteCount = 16 << 10
  private static let requestDeadline: Duration = .seconds(15)
  /// The maximum number of connections served at once.
  ///
  /// Others wait in the kernel's queue.
  static let maximumConnectionCount = 64

  let port: UInt16
  private let descriptor: Int32

  /// Listens on a numeric address.
  ///
  /// - Throws: Exit code 64 for an invalid address, 73 if the port is taken or not permitted.
  init(host: String, port: UInt16) throws {
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, String(port), &hints, &found) == 0, let address = unsafe found else {
      throw ToolExit.failure(
        ToolExit.usage, "--host takes an address such as 127.0.0.1 or ::, not \"\(host)\"")
    }
    defer { unsafe freeaddrinfo(found) }
    let descriptor = unsafe socket(
      address.pointee.ai_family, address.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
    var yes: Int32 = 1
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard unsafe bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0,
      listen(descriptor, SOMAXCONN) == 0
    else {
      throw ToolExit.failure(
        ToolExit.cannotCreate, "cannot listen at \(host), port \(port): \(systemMessage(errno))")
    }
    self.descriptor = descriptor
    self.port = Self.port(of: descriptor)
  }

  private static func port(of descriptor: Int32) -> UInt16 {
    var storage = sockaddr_storage()
    var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutableBytes(of: &storage) { buffer in
      guard let start = buffer.baseAddress,
        unsafe getsockname(descriptor, start.assumingMemoryBound(to: sockaddr.self), &count) == 0
      else { return 0 }
      // IPv4 and IPv6 addresses have the port at the same offset, in network byte order.
      return unsafe UInt16(buffer[2]) << 8 | UInt16(buffer[3])
    }
  }

  /// Serves forever.
  ///
  /// `respond` gets each request, or the reason to refuse it, and returns the status.
  func serve(
    bodyLimit: Int, _ respond: @escaping @Sendable (Result<Request, Refusal>) async -> Int
  ) async -> Never {
    Self.onThread("receipt-tool.listener") { acceptForEver(bodyLimit: bodyLimit, respond) }
    while true { try? await Task.sleep(for: .seconds(86_400)) }
  }

  /// Runs blocking work on a thread of its own.
  ///
  /// Swift has one thread for each processor, so on a single processor one blocked thread would stop everything. The
  /// threads of a concurrent queue are equally limited, but each serial queue gets a thread.
  private static func onThread(_ label: String, _ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: label).async(execute: body)
  }

  private func acceptForEver(
    bodyLimit: Int, _ respond: @escaping @Sendable (Result<Request, Refusal>) async -> Int
  ) {
    let slots = DispatchSemaphore(value: Self.maximumConnectionCount)
    while true {
      slots.wait()
      let accepted = accept(descriptor, nil, nil)
      guard accepted >= 0 else {
        slots.signal()
        // If no descriptors are left, the next attempt would fail at once.
        if errno != EINTR, errno != ECONNABORTED { usleep(100_000) }
        continue
      }
      _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
      Self.onThread("receipt-tool.connection") {
        let connection = Connection(accepted)
        let request = connection.readRequest(limit: bodyLimit)
        Task {
          let status = await respond(request)
          Self.onThread("receipt-tool.connection") {
            connection.finish(status: status)
            slots.signal()
          }
        }
      }
    }
  }

  /// A connection.
  ///
  /// It closes its descriptor.
  private final class Connection: Sendable {
    private let descriptor: Int32
    private let deadline = ContinuousClock.now + requestDeadline

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    func readRequest(limit: Int) -> Result<Request, Refusal> {
      do throws(Refusal) {
        var bytes: [UInt8] = []
        let head = try readHead(&bytes)
        let count = try Self.contentLength(head, limit: limit)
        if bytes.isEmpty, count > 0, head.expectsContinue { send("HTTP/1.1 100 Continue\r\n\r\n") }
        while bytes.count < count { bytes += try receive(atMost: count - bytes.count) }
        let authorizations = head.values("authorization")
        return .success(
          Request(
            path: String(head.target.prefix { $0 != "?" }),
            authorization: authorizations.count == 1 ? authorizations[0] : nil,
            body: Array(bytes.prefix(count))))
      } catch {
        return .failure(error)
      }
    }

    private struct Head {
      var method = ""
      var target = ""
      var version = ""
      var fields: [(name: String, value: String)] = []

      func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
      var expectsContinue: Bool { values("expect").contains { $0.lowercased() == "100-continue" } }
    }

    /// Reads up to the empty line that ends the head.
    ///
    /// Bytes after it stay in `bytes`.
    private func readHead(_ bytes: inout [UInt8]) throws(Refusal) -> Head {
      let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
      var searched = 0
      while true {
        if let range = bytes[searched...].firstRange(of: end) {
          let head = try Self.head(bytes[..<range.lowerBound])
          bytes.removeSubrange(..<range.upperBound)
          return head
        }
        searched = max(0, bytes.count - end.count + 1)
        guard bytes.count < maximumHeadByteCount else {
          throw Refusal(status: 431, message: "The head has more than \(maximumHeadByteCount) bytes.")
        }
        bytes += try receive(atMost: maximumHeadByteCount - bytes.count)
      }
    }

    private static func head(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> Head {
      let malformed = Refusal(status: 400, message: "The request is no HTTP/1.1.")
      // Lines end with CR LF, and otherwise contain only visible characters, spaces and tabs (RFC 9112 section 2.2).
      guard let text = String(validating: bytes, as: UTF8.self) else { throw malformed }
      var head = Head()
      for (index, line) in text.split(separator: "\r\n", omittingEmptySubsequences: false).enumerated() {
        guard line.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" }) else {
          throw malformed
        }
        if index == 0 {
          let parts = line.split(separator: " ", omittingEmptySubsequences: false)
          guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), parts[2].hasPrefix("HTTP/1.") else {
            throw malformed
          }
          (head.method, head.target, head.version) = (String(parts[0]), String(parts[1]), String(parts[2]))
          continue
        }
        guard let colon = line.firstIndex(of: ":") else { throw malformed }
        let name = line[..<colon]
        guard !name.isEmpty, !name.contains(where: { $0 == " " || $0 == "\t" }) else { throw malformed }
        let value = line[line.index(after: colon)...]
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let trimmed = value.drop(while: isBlank)
        head.fields.append(
          (
            name.lowercased(),
            String(
              trimmed.prefix(
                upTo: trimmed.lastIndex { !isBlank($0) }.map {
                  trimmed.index(after: $0)
                } ?? trimmed.startIndex))
          ))
      }
      return head
    }

    private static func contentLength(_ head: Head, limit: Int) throws(Refusal) -> Int {
      guard head.method == "POST" else {
        throw Refusal(status: 405, message: "Notifications come with POST, not \(head.method.prefix(20)).")
      }
      guard head.version == "HTTP/1.0" || head.values("host").count == 1 else {
        throw Refusal(status: 400, message: "The request names no host, or several.")
      }
      let lengths = head.values("content-length")
      guard head.values("transfer-encoding").isEmpty, lengths.count < 2, let length = lengths.first else {
        throw Refusal(status: 411, message: "The request does not state one Content-Length.")
      }
      guard !length.isEmpty, length.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
        throw Refusal(status: 400, message: "The Content-Length is no number.")
      }
      guard let count = Int(length), count <= limit else {
        throw Refusal(status: 413, message: "The body has more than \(limit) bytes.")
      }
      return count
    }

    private func receive(atMost count: Int) throws(Refusal) -> [UInt8] {
      while true {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let remaining = (deadline - .now) / .milliseconds(1)
        guard remaining > 0, unsafe poll(&state, 1, Int32(remaining) + 1) != 0 else {
          throw Refusal(status: 408, message: "The request did not arrive in \(requestDeadline).")
        }
        let limit = min(count, 64 << 10)
        var received = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
          received = unsafe recv(descriptor, buffer.baseAddress, limit, Int32(MSG_DONTWAIT))
          initialized = max(0, received)
        }
        if received > 0 { return bytes }
        guard received < 0, errno == EINTR || errno == EAGAIN else {
          throw Refusal(status: 400, message: "The connection ended before the request did.")
        }
      }
    }

    private func send(_ text: String) { _ = writeAll(Array(text.utf8), to: descriptor) }

    /// Sends the response and closes the connection.
    ///
    /// First it reads further input for a while, since closing earlier could destroy the response in transit (RFC 9112
    /// section 9.6).
    func finish(status: Int) {
      let reasons = [
        200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed",
        408: "Request Timeout",
        411: "Length Required", 413: "Content Too Large", 431: "Request Header Fields Too Large",
        503: "Service Unavailable",
      ]
      let allow = status == 405 ? "Allow: POST\r\n" : ""
      send(
        "HTTP/1.1 \(status) \(reasons[status] ?? "Error")\r\n\(allow)Content-Length: 0\r\nConnection: close\r\n\r\n"
      )
      shutdown(descriptor, Int32(SHUT_WR))
      var timeout = timeval(tv_sec: 1, tv_usec: 0)
      unsafe setsockopt(
        descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
      var waste = [UInt8](repeating: 0, count: 64 << 10)
      for _ in 0..<32 where unsafe recv(descriptor, &waste, waste.count, 0) <= 0 { break }
      close(descriptor)
    }
  }
}
