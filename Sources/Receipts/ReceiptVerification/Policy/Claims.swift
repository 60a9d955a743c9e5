// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The statements of authenticated content about itself, in terms that all kinds share.
struct Claims {
  let kind: ReceiptKind
  let environment: ReceiptEnvironment?
  /// `true` if the signature covers ``environment``.
  let isEnvironmentSigned: Bool
  let bundleId: String?
  let appAppleId: Int64?
  var signedAt: Timestamp?
  /// The device binding; `nil` if the receipt is bound to no device.
  let device: DeviceBinding?
}

/// The rules that a store's formats fix for each kind.
struct KindRules {
  /// `true` if every receipt of the kind names its app's bundle.
  let namesBundle: Bool
  /// `true` if every production receipt of the kind states its app's identifier.
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
