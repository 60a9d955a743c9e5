// SPDX-License-Identifier: Apache-2.0

/// The calls whose answers carry no signature: ``AppStoreServerClient`` and ``RawAppStoreServerClient`` have them
/// alike.
///
/// All throw ``AppStoreServerError``.
public protocol AppStoreServerCalls: Sendable {
  /// The client that returns signed parts as they came.
  var raw: RawAppStoreServerClient { get }
}

extension RawAppStoreServerClient: AppStoreServerCalls {
  /// This client.
  public var raw: RawAppStoreServerClient { self }
}
