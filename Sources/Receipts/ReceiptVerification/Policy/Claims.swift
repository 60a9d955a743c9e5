// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// What authenticated content says of itself, in the terms that all kinds share.
struct Claims {
  let kind: ReceiptKind
  let environment: ReceiptEnvironment?
  /// Whether the signature covers ``environment``.
  let isEnvironmentSigned: Bool
  let bundleId: String?
  let appAppleId: Int64?
  var signedAt: Timestamp?
  /// What binds it to a device; `nil` if nothing does.
  let device: DeviceBinding?
}

/// What is fixed for each kind by the formats of its store.
struct KindRules {
  /// Whether every receipt of the kind names its app's bundle.
  let namesBundle: Bool
  /// Whether every receipt of the kind in production states its app's identifier.
  let statesApp: Bool

  init(of kind: ReceiptKind) {
    switch kind {
    case .signedTransaction: (namesBundle, statesApp) = (true, false)
    case .signedRenewalInfo: (namesBundle, statesApp) = (false, false)
    case .signedAppTransaction: (namesBundle, statesApp) = (true, true)
    case .signedNotification: (namesBundle, statesApp) = (true, true)
    case .signedRealtimeRequest: (namesBundle, statesApp) = (false, true)
    case .appReceipt: (namesBundle, statesApp) = (true, true)
    case .transactionReceipt: (namesBundle, statesApp) = (true, false)
    case .googlePlayPurchase, .googlePlayLicense, .huaweiPurchase: (namesBundle, statesApp) = (true, false)
    }
  }
}
