// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  internal import AsyncHTTPClient
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOPosix
  internal import NIOSSL
  internal import ReceiptHTTP

  extension HTTPTransportError {
    /// Converts an error of AsyncHTTPClient, NIO or NIOSSL. `cannotConnect`, `insecure` and `unusable` promise that
    /// nothing was sent, so only errors from before the request become one of them. Unknown errors count as a lost
    /// connection, which promises nothing.
    init(_ error: any Error) {
      switch error {
      case let error as HTTPClientError: self.init(error)
      case let error as NIOSSLError: self.init(error)
      case is NIOSSLExtraError: self.init(.insecure, "The server's certificate is for another host.")
      case let error as HTTPParserError: self.init(error)
      case is NIOConnectionError: self.init(.cannotConnect, "Nobody answers at this address.")
      case let error as ChannelError: self.init(error)
      case is SocketAddressError: self.init(.cannotConnect, "The host is unknown.")
      case let error as IOError: self.init(error)
      case is CancellationError: self.init(.cancelled, "The task was cancelled.")
      default: self.init(.connectionLost, "The exchange failed: \(type(of: error)).")
      }
    }

    private init(_ error: HTTPClientError) {
      switch error {
      case .connectTimeout, .getConnectionFromPoolTimeout:
        self.init(.cannotConnect, "There was no connection in time.")
      case .tlsHandshakeTimeout: self.init(.insecure, "TLS was not agreed on in time.")
      case .deadlineExceeded, .readTimeout, .writeTimeout:
        self.init(.timedOut, "The time was up: \(error.shortDescription).")
      case .cancelled, .requestStreamCancelled: self.init(.cancelled, "The request was cancelled.")
      case .alreadyShutdown: self.init(.unusable, "The transport was shut down.")
      case .invalidURL, .emptyHost, .emptyScheme, .contentLengthMissing,
        .identityCodingIncorrectlyPresent, .bodyLengthMismatch:
        self.init(.unusable, "Such a request cannot be sent: \(error.shortDescription).")
      case .redirectLimitReached, .redirectCycleDetected:
        self.init(.invalidResponse, "The response is not one: \(error.shortDescription).")
      default: self.init(.connectionLost, "The connection failed: \(error.shortDescription).")
      }
    }

    private init(_ error: NIOSSLError) {
      switch error {
      case .handshakeFailed, .unableToValidateCertificate, .noCertificateToValidate, .cannotFindPeerIP,
        .cannotMatchULabel:
        self.init(.insecure, "TLS was not agreed on: the server's certificate is not trusted, or is no TLS.")
      default: self.init(.connectionLost, "The encrypted connection ended too early.")
      }
    }

    private init(_ error: HTTPParserError) {
      switch error {
      case .invalidEOFState, .closedConnection:
        self.init(.connectionLost, "The connection ended within the response.")
      default: self.init(.invalidResponse, "What came is not HTTP/1.1.")
      }
    }

    private init(_ error: ChannelError) {
      switch error {
      case .connectTimeout: self.init(.cannotConnect, "There was no connection in time.")
      case .connectPending: self.init(.cannotConnect, "There was no connection.")
      default: self.init(.connectionLost, "The connection ended.")
      }
    }

    private init(_ error: IOError) {
      switch error.errnoCode {
      case ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL:
        self.init(.cannotConnect, "Nobody answers at this address.")
      default: self.init(.connectionLost, "The connection broke.")
      }
    }
  }
#endif
