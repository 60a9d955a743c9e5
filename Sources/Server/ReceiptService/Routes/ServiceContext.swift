// SPDX-License-Identifier: Apache-2.0

#if Server
  public import Hummingbird
  internal import NIOCore

  /// The context in which a service handles a request.
  public struct ServiceContext: RequestContext {
    /// The storage that Hummingbird requires.
    public var coreContext: CoreRequestContextStorage
    /// The address of the peer, which may be a proxy, without its port.
    package let remoteAddress: String?
    let channel: any Channel

    /// Creates the context of a request.
    public init(source: ApplicationRequestContextSource) {
      coreContext = CoreRequestContextStorage(source: source)
      channel = source.channel
      remoteAddress = source.channel.remoteAddress?.ipAddress
    }
  }
#endif
