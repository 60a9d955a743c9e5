// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What the caller demands of a receipt. It comes from configuration, never from the receipt.
public struct VerificationPolicy: Sendable, Hashable {
  /// Which apps' receipts are accepted.
  public enum BundleRule: Sendable, Hashable {
    /// Those of any app: for tools, not for deciding what a customer may use.
    case any
    /// Those of these bundle identifiers, compared byte for byte. A kind that names no bundle (renewal info,
    /// realtime request) passes; one that should name its bundle and does not is refused.
    case oneOf(Set<String>)
  }

  /// The apps whose receipts are accepted.
  public var bundleIds: BundleRule
  /// The app's App Store identifier. When set, a receipt that states another is refused, and so is a
  /// production receipt of a kind that always states it (app transaction, notification, realtime request,
  /// app receipt) and does not.
  public var appAppleId: Int64?
  /// The environments accepted. An environment that is absent from a receipt counts only when both
  /// production and sandbox are in the set.
  public var environments: Set<ReceiptEnvironment.Category>
  /// The kinds accepted; all by default.
  public var kinds: Set<ReceiptKind>
  /// When the certificates must be valid; at signing by default.
  public var timeRule: TimeRule
  /// The greatest age of a receipt in seconds, from its signing time; no limit by default.
  public var maximumAge: Double?
  /// How far in the future, in seconds, a signing time may lie: 60 by default.
  public var allowedClockSkew: Double
  /// The certificate extensions demanded, one pair or another; Apple's by default.
  public var markers: Set<CertificateMarkers>
  /// The device that the receipt must have been made for: the 16 bytes of `identifierForVendor`, or the
  /// 6 bytes of a Mac's hardware address. `nil` by default: not checked.
  public var deviceIdentifier: [UInt8]?
  /// The signature algorithms accepted; all by default. SHA-1 counts only for app receipts and transaction
  /// receipts, which historically used it, and for Google Play, which still does. Without ``ReceiptAlgorithm/rsaSHA1`` certificates that are signed with
  /// SHA-1 are refused too.
  public var algorithms: Set<ReceiptAlgorithm>
  /// The keys with which Google Play and Huawei AppGallery sign the purchases of each app; none by default. A purchase of
  /// an app without a key is undetermined.
  public var appKeys: AppKeys
  /// Whether ``appKeys`` may have fewer than 2,048 bits, down to 1,024: such keys can be broken, and stores do not use
  /// them. `false` by default.
  public var admitsShortKeys: Bool
  /// What to make of data that Xcode or a unit test signed itself; refused by default.
  public var selfSignedTesting: SelfSignedTesting
  /// Whether the unsigned `environment` of a transaction receipt is enough for a policy that accepts
  /// production and not sandbox. `false` by default: such a receipt is undetermined.
  public var acceptsClaimedEnvironment: Bool

  /// Whether a receipt may be valid though a checker could not be reached; never by default.
  public var offlineRule: OfflineRule

  /// When the signature alone is enough, though a checker was to be asked and could not be reached
  /// (``CheckerAnswer/retryableFailure(message:)``). What it then would have said is not known: a purchase may
  /// have been refunded.
  public enum OfflineRule: Sendable, Hashable {
    /// An unreachable checker makes the verdict undetermined.
    case insufficient
    /// The signature is enough while any checker is unreachable.
    case sufficient
    /// The signature is enough while checkers of these names are unreachable.
    case sufficientWithout(Set<String>)

    func accepts(without checker: String) -> Bool {
      switch self {
      case .insufficient: false
      case .sufficient: true
      case .sufficientWithout(let names): names.contains(checker)
      }
    }
  }

  /// Creates a policy that accepts these apps and environments, with the defaults for everything else.
  public init(bundleIds: BundleRule, environments: Set<ReceiptEnvironment.Category>) {
    self.bundleIds = bundleIds
    self.environments = environments
    self.appAppleId = nil
    self.kinds = Set(ReceiptKind.allCases)
    self.timeRule = .atSigning
    self.maximumAge = nil
    self.allowedClockSkew = 60
    self.markers = [.appStore, .iTunesStore]
    self.deviceIdentifier = nil
    self.algorithms = Set(ReceiptAlgorithm.allCases)
    self.appKeys = AppKeys()
    self.admitsShortKeys = false
    self.selfSignedTesting = .refused
    self.acceptsClaimedEnvironment = false
    self.offlineRule = .insufficient
  }
}
