// SPDX-License-Identifier: Apache-2.0

public import ReceiptHTTP

/// The addresses of the Huawei AppGallery servers that know the purchases of a region.
public struct HuaweiAddress: Sendable, Hashable {
  /// A region with its own servers.
  public enum Site: String, Sendable, Hashable, CaseIterable {
    /// China.
    case china
    /// Europe.
    case germany
    /// Asia, Africa and Latin America.
    case singapore
    /// Russia.
    case russia

    fileprivate var code: String {
      switch self {
      case .china: "drcn"
      case .germany: "dre"
      case .singapore: "dra"
      case .russia: "drru"
      }
    }

    fileprivate var domain: String {
      switch self {
      case .china: "com.cn"
      case .germany: "eu"
      case .singapore: "asia"
      case .russia: "ru"
      }
    }
  }

  /// The order service, which knows consumables and one-time purchases.
  let orders: RemoteURL
  /// The subscription service.
  let subscriptions: RemoteURL
  /// The URL that issues access tokens.
  let token: RemoteURL

  /// Creates the addresses of a region's servers.
  public init(_ site: Site) {
    orders = RemoteURL(secureHost: "orders-\(site.code).iap.cloud.huawei.\(site.domain)")
    subscriptions = RemoteURL(secureHost: "subscr-\(site.code).iap.cloud.huawei.\(site.domain)")
    token = RemoteURL(secureHost: "oauth-login.cloud.huawei.com")
      .appending(pathSegments: Self.tokenPath)
  }

  /// Creates the address of one server of your own that offers all services.
  public init(base: RemoteURL) {
    self.init(orders: base, subscriptions: base, token: base.appending(pathSegments: Self.tokenPath))
  }

  private static let tokenPath = ["oauth2", "v3", "token"]

  /// Creates the addresses of servers of your own.
  package init(orders: RemoteURL, subscriptions: RemoteURL, token: RemoteURL) {
    self.orders = orders
    self.subscriptions = subscriptions
    self.token = token
  }
}
