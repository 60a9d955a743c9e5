// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  import AppStoreEmulator
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL

  /// An open port and who answers there.
  struct Listener {
    typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, ByteBuffer>

    let channel: NIOAsyncChannel<Connection, Never>

    var port: Int { channel.channel.localAddress?.port ?? 0 }

    private static let backlog: Int32 = 256

    /// Opens a port on the loopback address.
    static func open(port: Int, tls: NIOSSLContext?) async throws -> Listener {
      let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .serverChannelOption(.backlog, value: backlog)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .bind(host: "127.0.0.1", port: port) { channel in
          channel.eventLoop.makeCompletedFuture {
            if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
            // Requests are decoded, responses are bytes: faults need their say about each of them.
            try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
            return try Connection(wrappingChannelSynchronously: channel)
          }
        }
      return Listener(channel: channel)
    }

    /// Serves until the task is cancelled; connections then end with it.
    func serve(_ store: EmulatedAppStore, _ control: EmulatorControl) async throws {
      try await withThrowingDiscardingTaskGroup { group in
        try await channel.executeThenClose { connections in
          for try await connection in connections {
            group.addTask {
              store.statistics.connectionOpened()
              // How a connection ends is the client's affair, and often the test's.
              try? await ConnectionServer(connection: connection, store: store, control: control).run()
              store.statistics.connectionClosed()
            }
          }
        }
      }
    }
  }
#endif
