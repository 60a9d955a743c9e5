// SPDX-License-Identifier: Apache-2.0

#if Server
  public import Hummingbird
  internal import NIOCore

  /// The context of a request for the handlers of a service.
  public struct ServiceContext: RequestContext {
    /// Hummingbird's part of the context.
    public var coreContext: CoreRequestContextStorage
    /// The maker of the request; `nil` on routes that are open to all.
    public internal(set) var principal: Principal?
    /// The address of the peer, without its port: that of a proxy, where there is one.
    public let remoteAddress: String?
    /// The connection.
    let channel: any Channel

    /// Creates the context of a request.
    public init(source: ApplicationRequestContextSource) {
      coreContext = CoreRequestContextStorage(source: source)
      channel = source.channel
      remoteAddress = source.channel.remoteAddress?.ipAddress
    }
  }
#endif
