// SPDX-License-Identifier: Apache-2.0

#if Server
  public import Hummingbird
  internal import NIOCore

  /// What the handlers of a service know of a request besides the request.
  public struct ServiceContext: RequestContext {
    /// What Hummingbird needs.
    public var coreContext: CoreRequestContextStorage
    /// Who makes the request; `nil` on routes that are open to all.
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
