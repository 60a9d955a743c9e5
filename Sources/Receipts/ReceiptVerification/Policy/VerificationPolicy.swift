// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The caller's requirements for a receipt, which come from configuration and never from the receipt.
public struct VerificationPolicy: Sendable, Hashable {
  /// The rule for the apps whose receipts are accepted.
  public enum BundleRule: Sendable, Hashable {
    /// Receipts of any app: for tools, not for deciding what a customer may use.
    case any
    /// Receipts with these bundle identifiers, compared byte for byte.
    ///
    /// A kind that names no bundle (renewal info, realtime request) passes. A receipt that should name its bundle and
    /// does not is refused.
    case oneOf(Set<String>)
  }

  /// The apps whose receipts are accepted.
  public var bundleIds: BundleRule
  /// The app's App Store identifier; `nil` by default.
  ///
  /// If set, a receipt that states another identifier is refused. A production receipt that states no identifier is
  /// also refused if its kind always states one (app transaction, notification, realtime request, app receipt).
  public var appAppleId: Int64?
  /// The accepted environments.
  ///
  /// A receipt that states no environment is accepted only if both production and sandbox are in the set.
  public var environments: Set<ReceiptEnvironment.Category>
  /// The accepted kinds; all by default.
  public var kinds: Set<ReceiptKind>
  /// The instant at which the certificates must be valid; the signing time by default.
  public var timeRule: TimeRule
  /// The maximum age of a receipt in seconds, measured from its signing time; no limit by default.
  public var maximumAge: Double?
  /// The number of seconds by which a signing time may lie in the future; 60 by default.
  public var allowedClockSkew: Double
  /// The accepted pairs of certificate extensions, at least one required; Apple's by default.
  public var markers: Set<CertificateMarkers>
  /// The identifier of the device that the receipt must have been made for; `nil` by default, which disables the check.
  ///
  /// It is the 16 bytes of `identifierForVendor`, or the 6 bytes of a Mac's hardware address.
  public var deviceIdentifier: [UInt8]?
  /// The accepted signature algorithms; all by default.
  ///
  /// SHA-1 is accepted only for app receipts and transaction receipts, which used it in the past, and for Google Play,
  /// which still uses it. Without ``ReceiptAlgorithm/rsaSHA1``, certificates signed with SHA-1 are refused too.
  public var algorithms: Set<ReceiptAlgorithm>
  /// The keys with which Google Play and Huawei AppGallery sign the purchases of each app; none by default.
  ///
  /// A purchase of an app without a key is undetermined.
  public var appKeys: AppKeys
  /// Indicates whether ``appKeys`` may have fewer than 2,048 bits, down to 1,024; `false` by default.
  ///
  /// Such keys can be broken, and stores do not use them.
  public var admitsShortKeys: Bool
  /// The treatment of data that Xcode or a unit test signed itself; refused by default.
  public var selfSignedTesting: SelfSignedTesting
  /// Indicates whether a transaction receipt's unsigned `environment` satisfies a policy that accepts production and
  /// not sandbox.
  ///
  /// `false` by default: such a receipt is undetermined.
  public var acceptsClaimedEnvironment: Bool

  /// The rule for receipts for which a checker could not be reached; by default they are not valid.
  public var offlineRule: OfflineRule

  /// The cases in which the signature alone is sufficient although a checker could not be reached
  /// (``CheckerAnswer/retryableFailure(message:)``).
  ///
  /// The checker's answer is then unknown: a purchase may have been refunded.
  public enum OfflineRule: Sendable, Hashable {
    /// An unreachable checker makes the verdict undetermined.
    case insufficient
    /// The signature is sufficient while any checker is unreachable.
    case sufficient
    /// The signature is sufficient while checkers with these names are unreachable.
    case sufficientWithout(Set<String>)

    func accepts(without checker: String) -> Bool {
      switch self {
      case .insufficient: false
      case .sufficient: true
      case .sufficientWithout(let names): names.contains(checker)
      }
    }
  }

  /// Creates a policy that accepts these apps and environments and has the defaults for everything else.
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
