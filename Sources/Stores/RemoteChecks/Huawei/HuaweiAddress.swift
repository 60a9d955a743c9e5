// SPDX-License-Identifier: Apache-2.0

public import ReceiptHTTP

/// Where the servers of Huawei AppGallery are that know the purchases of a region.
public struct HuaweiAddress: Sendable, Hashable {
  /// The regions, each with servers of its own.
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

  /// The order service, which knows consumables and what is bought once.
  let orders: RemoteURL
  /// The subscription service.
  let subscriptions: RemoteURL
  /// Where access tokens are issued.
  let token: RemoteURL

  /// The servers of a region.
  public init(_ site: Site) {
    orders = RemoteURL(secureHost: "orders-\(site.code).iap.cloud.huawei.\(site.domain)")
    subscriptions = RemoteURL(secureHost: "subscr-\(site.code).iap.cloud.huawei.\(site.domain)")
    token = RemoteURL(secureHost: "oauth-login.cloud.huawei.com")
      .appending(pathSegments: Self.tokenPath)
  }

  /// One server of your own that answers as all of them do.
  public init(base: RemoteURL) {
    self.init(orders: base, subscriptions: base, token: base.appending(pathSegments: Self.tokenPath))
  }

  private static let tokenPath = ["oauth2", "v3", "token"]

  /// Servers of your own.
  public init(orders: RemoteURL, subscriptions: RemoteURL, token: RemoteURL) {
    self.orders = orders
    self.subscriptions = subscriptions
    self.token = token
  }
}
