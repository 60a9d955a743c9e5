// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreEmulator
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL

  /// An open port, which accepts connections.
  struct Listener {
    typealias Connection = NIOAsyncChannel<RequestPart, ByteBuffer>

    let channel: NIOAsyncChannel<Connection, Never>

    var port: Int { channel.channel.localAddress?.port ?? 0 }

    private static let backlog: Int32 = 256
    /// The maximum number of bytes that the decoder buffers for an incomplete head.
    private static let longestHead = 256 << 10

    /// Opens a port.
    static func open(host: String, port: Int, tls: NIOSSLContext?) async throws -> Listener {
      var limits = NIOHTTPDecoderLimitConfiguration()
      (limits.maxHeaderFieldSize, limits.maxHeaderListSize) = (longestHead, longestHead)
      let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .serverChannelOption(.backlog, value: backlog)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .bind(host: host, port: port) { [limits] channel in
          channel.eventLoop.makeCompletedFuture {
            if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
            // Requests are decoded, but responses are written as bytes, because faults control each byte.
            let decoder = HTTPRequestDecoder(limitConfiguration: limits)
            try channel.pipeline.syncOperations.addHandlers(
              ByteToMessageHandler(decoder, maximumBufferSize: 2 * longestHead), RequestPartHandler())
            return try Connection(wrappingChannelSynchronously: channel)
          }
        }
      return Listener(channel: channel)
    }

    /// Closes the port without serving.
    func close() async { try? await channel.executeThenClose { _, _ in } }

    /// Serves until the task is cancelled, which also ends the connections.
    func serve(
      _ apps: EmulatedApps, _ options: ServingOptions
    ) async throws {
      try await withThrowingDiscardingTaskGroup { group in
        try await channel.executeThenClose { connections in
          for try await connection in connections {
            group.addTask {
              apps.stores[0].statistics.connectionOpened()
              // Errors of a connection are ignored: clients, often tests, end connections as they like.
              try? await ConnectionServer(
                connection: connection, apps: apps,
                idleTimeout: .seconds(Int64(options.idleTimeout)), log: options.log ? RequestLog() : nil
              ).run()
              apps.stores[0].statistics.connectionClosed()
            }
          }
        }
      }
    }
  }
#endif
