// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreEmulator
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL
  import ReceiptCrypto

  /// An open port, which accepts connections.
  struct Listener {
    typealias Connection = NIOAsyncChannel<RequestPart, ByteBuffer>

    let channel: NIOAsyncChannel<Connection, Never>

    var port: Int { channel.channel.localAddress?.port ?? 0 }

    private static let backlog: Int32 = 256
    /// The maximum number of bytes that the decoder buffers for an incomplete head.
    private static let longestHead = 256 << 10

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
    func serve(_ apps: EmulatedApps, _ options: ServingOptions) async throws {
      try await withThrowingDiscardingTaskGroup { group in
        try await channel.executeThenClose { connections in
          for try await connection in connections {
            group.addTask {
              apps.stores[0].statistics.connectionOpened()
              // Errors of a connection are ignored: clients, often tests, end connections as they like.
              try? await ConnectionServer(
                connection: connection, apps: apps,
                idleTimeout: .seconds(Int64(options.idleTimeout)), logs: options.log
              ).run()
              apps.stores[0].statistics.connectionClosed()
            }
          }
        }
      }
    }
  }

  /// A part of a request, or the reason to refuse bytes that are not a request.
  typealias RequestPart = Result<HTTPServerRequestPart, RequestRefusal>

  /// Turns the decoder's error into a part, so that requests before it are answered first.
  final class RequestPartHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = RequestPart

    private var hasFailed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      context.fireChannelRead(wrapInboundOut(.success(unwrapInboundIn(data))))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      // After its first error, the decoder reports further input as further errors.
      if hasFailed { return }
      let refusal: RequestRefusal
      switch error as? HTTPParserError {
      case nil, .invalidEOFState, .closedConnection: return context.fireErrorCaught(error)
      case .headerOverflow: refusal = RequestRefusal(431, "The head is too long.")
      case .invalidVersion: refusal = RequestRefusal(505, "The version is not HTTP/1.1.")
      case .some(let error): refusal = RequestRefusal(400, "This is not an HTTP request (\(error)).")
      }
      hasFailed = true
      context.fireChannelRead(wrapInboundOut(.failure(refusal)))
    }
  }

  /// An open port of the sandbox or of production.
  struct ServedPort {
    let name: String
    let isProduction: Bool
    let listener: Listener

    /// Opens all ports.
    ///
    /// The first one is the plain port of the sandbox.
    static func open(_ options: ServingOptions, _ certificates: ServerCertificates) async throws
      -> [ServedPort]
    {
      let ports: [(String, UInt16, ServerCertificates.Kind?)] = [
        ("port", options.port, nil), ("productionPort", options.productionPort, nil),
        ("tlsPort", options.tlsPort, .trusted), ("productionTLSPort", options.productionTLSPort, .trusted),
        ("untrustedTLSPort", options.untrustedTLSPort, .untrusted),
        ("wrongHostTLSPort", options.wrongHostTLSPort, .wrongHost),
        ("expiredTLSPort", options.expiredTLSPort, .expired),
      ]
      var opened: [ServedPort] = []
      for (name, number, kind) in ports {
        let tls = try kind.map { try context(options, certificates, $0) }
        do {
          let listener = try await Listener.open(host: options.bind, port: Int(number), tls: tls)
          opened.append(
            ServedPort(name: name, isProduction: name.hasPrefix("production"), listener: listener))
        } catch {
          for port in opened { await port.listener.close() }
          throw ToolFailure.exit(
            ToolFailure.unavailable, "\(name) \(number) at \(options.bind) could not be opened: \(error)")
        }
      }
      return opened
    }

    private static func context(
      _ options: ServingOptions, _ certificates: ServerCertificates, _ kind: ServerCertificates.Kind
    ) throws -> NIOSSLContext {
      let chain: [NIOSSLCertificate]
      let key: NIOSSLPrivateKey
      if kind == .trusted, let certificateFile = options.tlsCertificate, let keyFile = options.tlsKey {
        (chain, key) = try ToolFailure.exiting(
          ToolFailure.noInput, "\(certificateFile) or \(keyFile) cannot be read as PEM: "
        ) {
          try (NIOSSLCertificate.fromPEMFile(certificateFile), NIOSSLPrivateKey(file: keyFile, format: .pem))
        }
      } else {
        let issued = try certificates.issue(kind)
        chain = try NIOSSLCertificate.fromPEMBytes(Array(issued.chain.utf8))
        key = try NIOSSLPrivateKey(bytes: Array(issued.key.utf8), format: .pem)
      }
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
      configuration.minimumTLSVersion = .tlsv12
      return try ToolFailure.exiting(ToolFailure.noInput, "The TLS certificate and key cannot be used: ") {
        try NIOSSLContext(configuration: configuration)
      }
    }
  }
#endif
