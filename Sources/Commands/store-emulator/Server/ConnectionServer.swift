// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreEmulator
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import ReceiptBytes
  import ReceiptCodec
  import ReceiptHTTP
  import ReceiptVerification

  /// Serves a connection: reads each request, and performs the steps of the delivery that answers it.
  struct ConnectionServer {
    let connection: Listener.Connection
    let apps: EmulatedApps
    /// The time for the head of a request to arrive, and then for its body.
    let idleTimeout: TimeAmount
    /// `true` to write a line to standard error for each request.
    let logs: Bool

    private typealias Parts = NIOAsyncChannelInboundStream<RequestPart>.AsyncIterator
    private typealias Output = NIOAsyncChannelOutboundWriter<ByteBuffer>

    private static let longestTarget = 16 << 10
    private static let longestFields = 64 << 10
    private static let longestBody = 64 << 20
    /// The time for which the rest of a refused request is read.
    ///
    /// Closing earlier could destroy the response in transit.
    private static let refusalTimeout = TimeAmount.seconds(1)

    func run() async throws {
      try await connection.executeThenClose { inbound, outbound in
        var parts = inbound.makeAsyncIterator()
        while try await serveRequest(&parts, outbound) {}
      }
    }

    /// - Returns: `true` if the connection serves further requests.
    private func serveRequest(_ parts: inout Parts, _ outbound: Output) async throws -> Bool {
      var deadline = closeConnection(in: idleTimeout)
      defer { deadline.cancel() }
      guard let first = try await parts.next() else { return false }
      deadline.cancel()
      deadline = closeConnection(in: idleTimeout)
      let start = ContinuousClock.now
      let head: HTTPRequestHead
      switch first {
      case .success(.head(let next)): head = next
      case .success: return false
      case .failure(let refusal): return try await refuse(refusal, nil, since: start, &parts, outbound)
      }
      do {
        try await check(head, outbound)
        let body = try await body(&parts)
        deadline.cancel()
        // A HEAD is answered as a GET (RFC 9110 section 9.3.2).
        let request = EmulatorRequest(
          head.method == .HEAD ? "GET" : head.method.rawValue, target: head.uri,
          headers: head.headers.map { HTTPHeader($0.name, $0.value) }, body: body)
        var delivery = await apps.deliver(request)
        if head.method == .HEAD { delivery.dropBody() }
        // After a request for another protocol, the decoder reads nothing more.
        let keepsOpen = head.isKeepAlive && !head.headers.contains(name: "Upgrade")
        if !keepsOpen { delivery.announceClose() }
        return try await perform(delivery, &parts, outbound) {
          record(head, status: delivery.status, fault: delivery.fault, since: start)
        } && keepsOpen
      } catch let refusal as RequestRefusal {
        return try await refuse(refusal, head, since: start, &parts, outbound)
      }
    }

    /// Checks what the decoder does not check, and sends 100 (Continue) if the client expects it (RFC 9110 section
    /// 10.1.1).
    private func check(_ head: HTTPRequestHead, _ outbound: Output) async throws {
      let fields = head.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
      guard head.uri.utf8.count <= Self.longestTarget else {
        throw RequestRefusal(414, "The target has more than \(Self.longestTarget) bytes.")
      }
      guard fields <= Self.longestFields else {
        throw RequestRefusal(431, "The header fields have more than \(Self.longestFields) bytes.")
      }
      let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
      guard length <= Self.longestBody else { throw Self.longBody }
      // HTTP/1.1 requires exactly one Host field (RFC 9112 section 3.2).
      let mustNameHost = head.version.minor >= 1
      guard head.headers["Host"].count == 1 || !mustNameHost && head.headers["Host"].isEmpty else {
        throw RequestRefusal(400, "There is not one Host.")
      }
      guard mustNameHost, let expectation = head.headers.first(name: "Expect") else { return }
      guard expectation.lowercased() == "100-continue" else {
        throw RequestRefusal(417, "The expectation is not 100-continue.")
      }
      try await outbound.write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
    }

    private func body(_ parts: inout Parts) async throws -> [UInt8] {
      var body: [UInt8] = []
      while let part = try await parts.next() {
        switch try part.get() {
        case .head: break
        case .body(let bytes):
          guard body.count + bytes.readableBytes <= Self.longestBody else { throw Self.longBody }
          body.append(contentsOf: bytes.readableBytesView)
        case .end: return body
        }
      }
      throw ChannelError.eof
    }

    private static let longBody = RequestRefusal(413, "The body has more than \(longestBody) bytes.")

    /// - Returns: `false`, because the connection serves no further requests.
    private func refuse(
      _ refusal: RequestRefusal, _ head: HTTPRequestHead?, since start: ContinuousClock.Instant,
      _ parts: inout Parts, _ outbound: Output
    ) async throws -> Bool {
      record(head, status: refusal.status, since: start)
      let response = RemoteResponse.text("\(refusal.reason)\n", status: refusal.status)
      try await outbound.write(ByteBuffer(bytes: response.serialized(isLast: true)))
      let deadline = closeConnection(in: Self.refusalTimeout)
      defer { deadline.cancel() }
      while try await parts.next() != nil {}
      return false
    }

    /// Writes a line for a request, if that is wanted: time, method, path, status, milliseconds, and the fault.
    private func record(
      _ head: HTTPRequestHead?, status: Int?, fault: String? = nil, since start: ContinuousClock.Instant
    ) {
      guard logs else { return }
      let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
      let line =
        "\(SystemClock.now().iso8601) \(head?.method.rawValue ?? "-") "
        + "\(ShownText.plain(head?.uri ?? "-", limit: 500)) \(status.map { String($0) } ?? "-") "
        + "\(Int(milliseconds.rounded())) ms\(fault.map { " fault \($0)" } ?? "")\n"
      ToolFailure.write(line)
    }

    /// Schedules closing the connection.
    ///
    /// The caller cancels the result to keep it open.
    private func closeConnection(in time: TimeAmount) -> Scheduled<Void> {
      let channel = connection.channel
      return channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    /// - Returns: `true` if the connection serves further requests.
    private func perform(
      _ delivery: EmulatorDelivery, _ parts: inout Parts, _ outbound: Output, record: () -> Void
    ) async throws -> Bool {
      var isRecorded = false
      defer { if !isRecorded { record() } }
      for (index, step) in delivery.steps.enumerated() {
        // Record the request before the last step: a client that has the response must find it in the log, and the last
        // step may never end.
        if index == delivery.steps.count - 1 {
          record()
          isRecorded = true
        }
        switch step {
        case .wait(let milliseconds): try await wait(milliseconds)
        case .send(let bytes): if !bytes.isEmpty { try await outbound.write(ByteBuffer(bytes: bytes)) }
        case .sendForever(let bytes):
          let buffer = ByteBuffer(bytes: bytes)
          while !Task.isCancelled {
            try await outbound.write(buffer)
            // Wait for the event loop. The writer only passes the bytes to the loop, and suspends once the loop has
            // found the socket full. A faster writer would fill the loop with tasks, which it runs before it serves any
            // connection.
            try await connection.channel.eventLoop.submit {}.get()
          }
        case .waitForEnd: while try await parts.next() != nil {}
        }
      }
      switch delivery.end {
      case .keepOpen: return true
      case .close: return false
      case .reset:
        // A linger time of zero makes the kernel send RST instead of FIN.
        if let channel = connection.channel as? any SocketOptionProvider {
          try await channel.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        return false
      }
    }

    /// Waits for a time.
    ///
    /// Fails if the client closes the connection meanwhile.
    private func wait(_ milliseconds: Int) async throws {
      let end = ContinuousClock.now + .milliseconds(milliseconds)
      while ContinuousClock.now < end {
        guard connection.channel.isActive else { throw ChannelError.alreadyClosed }
        try await Task.sleep(for: min(Duration.milliseconds(20), end - .now), clock: .continuous)
      }
    }
  }
#endif
