// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  import AppStoreEmulator
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import ReceiptHTTP

  /// Serves one connection: reads a request, sends what the delivery says, and so on.
  struct ConnectionServer {
    let connection: Listener.Connection
    let store: EmulatedAppStore
    let control: EmulatorControl

    private static let longestBody = 64 << 20

    func run() async throws {
      try await connection.executeThenClose { inbound, outbound in
        var parts = inbound.makeAsyncIterator()
        while let head = try await nextHead(&parts) {
          guard let body = try await body(&parts) else {
            try await outbound.write(buffer(EmulatorResponse(status: 413).serialized(isLast: true)))
            return
          }
          let request = EmulatorRequest(
            head.method.rawValue, target: head.uri,
            headers: head.headers.map { HTTPHeader($0.name, $0.value) }, body: body)
          let delivery =
            if let response = await control.respond(to: request) { EmulatorDelivery(response) } else {
              await store.deliver(request)
            }
          guard try await perform(delivery, &parts, outbound), head.isKeepAlive else { return }
        }
      }
    }

    private func nextHead(
      _ parts: inout NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    ) async throws -> HTTPRequestHead? {
      while let part = try await parts.next() {
        if case .head(let head) = part { return head }
      }
      return nil
    }

    /// `nil` for a body that is too long.
    private func body(
      _ parts: inout NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    ) async throws -> [UInt8]? {
      var body: [UInt8] = []
      while let part = try await parts.next() {
        switch part {
        case .head: break
        case .body(let bytes):
          guard body.count + bytes.readableBytes <= Self.longestBody else { return nil }
          body.append(contentsOf: bytes.readableBytesView)
        case .end: return body
        }
      }
      throw ChannelError.eof
    }

    /// - Returns: Whether the connection serves further requests.
    private func perform(
      _ delivery: EmulatorDelivery,
      _ parts: inout NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator,
      _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws -> Bool {
      for step in delivery.steps {
        switch step {
        case .wait(let milliseconds): try await wait(milliseconds)
        case .send(let bytes): if !bytes.isEmpty { try await outbound.write(buffer(bytes)) }
        case .sendForever(let bytes):
          let buffer = buffer(bytes)
          while !Task.isCancelled {
            try await outbound.write(buffer)
            // The writer only hands the bytes to the event loop, and suspends once that has found the socket full.
            // A faster writer fills the loop with tasks, which it empties before it looks at any connection again.
            try await connection.channel.eventLoop.submit {}.get()
          }
        case .waitForEnd: while try await parts.next() != nil {}
        }
      }
      switch delivery.end {
      case .keepOpen: return true
      case .close: return false
      case .reset:
        // Lingering for no time makes the kernel send RST in place of FIN.
        if let channel = connection.channel as? any SocketOptionProvider {
          try await channel.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        return false
      }
    }

    /// Waits, but not for somebody who has gone.
    private func wait(_ milliseconds: Int) async throws {
      let end = ContinuousClock.now + .milliseconds(milliseconds)
      while ContinuousClock.now < end {
        guard connection.channel.isActive else { throw ChannelError.alreadyClosed }
        try await Task.sleep(for: min(Duration.milliseconds(20), end - .now), clock: .continuous)
      }
    }

    private func buffer(_ bytes: [UInt8]) -> ByteBuffer { ByteBuffer(bytes: bytes) }
  }
#endif
