// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The third stage: evaluates the policy on the claims of authenticated content. The order is the same for every kind:
/// kind, time, app, test certificate, device, environment. The environment comes last, because it is the only one that
/// a checker can determine.
struct PolicyEvaluator: Sendable {
  let policy: VerificationPolicy
  let clock: @Sendable () -> Timestamp

  /// The position of the content that is evaluated.
  enum Context {
    /// The receipt itself.
    case receipt
    /// A signed part of a notification: its expected kind, and the environment that the notification states.
    ///
    /// The maximum age applies to the notification, not to its parts.
    case part(of: ReceiptEnvironment?, kind: ReceiptKind)
  }

  /// Evaluates the policy on content and returns the path that is valid under it. The claims are those of the content;
  /// a notification without a signing time has that of its parts.
  func evaluate(
    _ content: AuthenticatedContent, claims: Claims, in context: Context, trace: Trace?
  ) throws(ValidationError) -> Acceptance {
    try requireKind(claims.kind, in: context)
    let path = try path(validFor: claims, among: content.proven.paths, in: context, trace: trace)
    try requireApp(claims)
    try requireTestEnvironment(claims, for: path)
    trace?.add(.policy, passed: true, "the app is accepted")
    try requireDevice(claims)
    let unproven = try unprovenEnvironment(of: claims, in: context)
    if unproven == nil { trace?.add(.policy, passed: true, "the environment is accepted") }
    return Acceptance(path: path, unprovenEnvironment: unproven)
  }

  /// Evaluates the policy on the unsigned answer of a store, whose connection proves app and environment.
  func evaluate(answer claims: Claims, _ purchases: [Purchase]) throws(ValidationError) {
    try requireKind(claims.kind, in: .receipt)
    try requireApp(claims)
    if let environment = claims.environment {
      try requireEnvironment(environment, of: claims.kind)
    } else if let reason = try unprovenEnvironment(of: claims, in: .receipt) {
      throw .undetermined(reason)
    }
    try requireCurrent(purchases, of: nil)
  }

  private func requireKind(_ kind: ReceiptKind, in context: Context) throws(ValidationError) {
    switch context {
    case .receipt:
      guard policy.kinds.contains(kind) else {
        throw .invalid(.wrongKind, "The policy does not accept \(kind.withArticle) (setting: kinds).")
      }
    case .part(_, let expected):
      guard kind == expected else {
        throw .invalid(
          .nestedMismatch, "Here a \(expected.rawValue) belongs, and this is a \(kind.rawValue).")
      }
    }
  }

  // MARK: Time

  /// The instant at which receipts are evaluated: that of the time rule, or now.
  var instant: Timestamp {
    if case .at(let instant) = policy.timeRule { instant } else { clock() }
  }

  private func path(
    validFor claims: Claims, among paths: ArraySlice<SigningPath>, in context: Context, trace: Trace?
  ) throws(ValidationError) -> SigningPath {
    let reference = self.instant
    if let signedAt = claims.signedAt,
      !isSurely(signedAt, notAfter: reference.addingSeconds(policy.allowedClockSkew))
    {
      throw .invalid(
        .signedInFuture,
        "It was signed at \(signedAt.iso8601), after \(reference.iso8601), at which it is evaluated "
          + "(setting: allowedClockSkew).")
    }
    if let maximumAge = policy.maximumAge, case .receipt = context {
      let signedAt = try requireSigningTime(of: claims)
      guard isSurely(reference, notAfter: signedAt.addingSeconds(maximumAge)) else {
        throw .invalid(
          .tooOld,
          "It was signed at \(signedAt.iso8601), more than \(maximumAge) seconds before (setting: maximumAge)."
        )
      }
    }
    // A key without certificates does not expire, regardless of the signing time.
    if let path = paths.first, path.certificates.isEmpty { return path }
    let instant: Timestamp
    switch policy.timeRule {
    case .atSigning: instant = try requireSigningTime(of: claims)
    case .at(let given): instant = given
    case .now: instant = reference
    }
    if let path = paths.first(where: { $0.isValid(at: instant) }) {
      trace?.add(.time, passed: true, "the certificates were valid at \(instant.iso8601)")
      return path
    }
    guard let (index, certificate) = paths.first?.invalidCertificate(at: instant) else {
      throw .invalid(.chainUntrusted, "No path leads from the signer to a trusted root.")
    }
    throw .invalid(
      .chainExpired, at: "certificate \(index)",
      "\"\(certificate.subject)\" is valid from "
        + "\(Timestamp(secondsSince1970: certificate.notBefore).iso8601Seconds) to "
        + "\(Timestamp(secondsSince1970: certificate.notAfter).iso8601Seconds), and the receipt is evaluated "
        + "at \(instant.iso8601).")
  }

  /// Returns `false` if either instant is NaN, so that such a limit accepts no receipt.
  private func isSurely(_ instant: Timestamp, notAfter other: Timestamp) -> Bool {
    instant.millisecondsSince1970 <= other.millisecondsSince1970
  }

  private func requireSigningTime(of claims: Claims) throws(ValidationError) -> Timestamp {
    guard let signedAt = claims.signedAt else {
      throw .undetermined(
        Reason(
          .signingTimeMissing,
          "The receipt does not say when it was signed. Evaluate it at a given time, or now "
            + "(receipt-tool: --time)."))
    }
    return signedAt
  }

  // MARK: App and device

  private func requireApp(_ claims: Claims) throws(ValidationError) {
    let rules = KindRules(of: claims.kind)
    if case .oneOf(let accepted) = policy.bundleIds, rules.namesBundle {
      guard let bundleId = claims.bundleId, accepted.contains(where: { UTF8Text.isIdentical($0, bundleId) })
      else {
        throw .invalid(
          .wrongBundle,
          claims.bundleId.map {
            "It is a receipt of \"\($0)\", which the policy does not accept (setting: bundleIds)."
          }
            ?? "It names no bundle identifier.")
      }
    }
    if let required = policy.appAppleId {
      // App receipts of the sandbox state 0.
      let stated = claims.appAppleId == 0 ? nil : claims.appAppleId
      let isRequired = rules.statesApp && claims.environment?.category == .production
      guard stated == required || (stated == nil && !isRequired) else {
        throw .invalid(
          .wrongApp,
          stated.map { "It is a receipt of app \($0), not of \(required) (setting: appAppleId)." }
            ?? "A production receipt of this kind states its app's identifier; this one does not.")
      }
    }
  }

  private func requireTestEnvironment(_ claims: Claims, for path: SigningPath) throws(ValidationError) {
    guard path.assurance == .pinnedTestCertificate else { return }
    guard [.xcode, .localTesting].contains(claims.environment?.category) else {
      throw .invalid(
        .chainUntrusted, at: "certificate 0",
        "A pinned test certificate signs for Xcode or local testing alone, and this receipt says "
          + "\"\(claims.environment?.rawValue ?? "nothing")\".")
    }
  }

  /// Requires that the receipt is bound to the policy's device; a receipt bound to no device fails.
  private func requireDevice(_ claims: Claims) throws(ValidationError) {
    guard let device = policy.deviceIdentifier else { return }
    let place = DeviceBinding.place(in: claims.kind, of: claims.device)
    guard let binding = claims.device else {
      throw .invalid(.wrongDevice, at: place, "The receipt is not bound to a device.")
    }
    if case .sha1Hash = binding, !DigestAlgorithm.sha1.isAvailable {
      throw .notComputed(DigestAlgorithm.sha1.unavailable, at: place)
    }
    guard binding.matches(device) else {
      throw .invalid(.wrongDevice, at: place, "The receipt was made for another device.")
    }
  }

  // MARK: Environment

  /// Returns the reason that the environment is not proven, or `nil` if the policy accepts it. A claim that the
  /// signature does not cover proves nothing. A receipt without an environment could come from production or from the
  /// sandbox. A sandbox transaction receipt could be relabelled as production. Neither satisfies a policy that accepts
  /// production and not sandbox.
  private func unprovenEnvironment(
    of claims: Claims, in context: Context
  ) throws(ValidationError) -> Reason? {
    var surrounding: ReceiptEnvironment?
    if case .part(let environment, _) = context { surrounding = environment }
    let accepted = policy.environments(of: claims.kind)
    if !claims.isEnvironmentSigned {
      if policy.environments.contains(.production), !policy.environments.contains(.sandbox),
        !policy.acceptsClaimedEnvironment
      {
        return Reason(
          .environmentUnproven, at: "key \"environment\"",
          "The receipt claims the environment \"\(claims.environment?.rawValue ?? "")\", but its signature "
            + "does not cover that. Ask the store (a checker), accept sandbox too, or accept the claim.")
      }
      if let environment = claims.environment { try requireEnvironment(environment, of: claims.kind) }
    } else if let environment = claims.environment ?? surrounding {
      try requireEnvironment(environment, of: claims.kind)
    } else if claims.kind.isDetached, policy.unstatedEnvironment == .refuse {
      throw .invalid(
        .wrongEnvironment,
        "The store does not state the environment of its purchases, and the policy refuses those (setting: "
          + "unstatedEnvironment).")
    } else if claims.kind.isDetached, policy.unstatedEnvironment == .accept {
      return nil
    } else if !accepted.isSuperset(of: [.production, .sandbox]) {
      return Reason(
        .environmentUnproven,
        claims.kind.isDetached
          ? "The store does not state the environment of its purchases. Ask it with a checker and credentials, or accept "
            + "purchases without one (setting: unstatedEnvironment)."
          : "The receipt names no environment; that is enough only for a policy that accepts production "
            + "and sandbox (setting: environments).")
    }
    return nil
  }

  private func requireEnvironment(
    _ environment: ReceiptEnvironment, of kind: ReceiptKind
  ) throws(ValidationError) {
    let accepted = policy.environments(of: kind)
    guard let category = environment.category, accepted.contains(category) else {
      throw .invalid(
        .wrongEnvironment,
        "It is of the environment \"\(environment.rawValue)\"; accepted are: "
          + accepted.map(\.rawValue).sorted().joined(separator: ", ") + " (setting: "
          + (kind.isDetached ? "otherStores; receipt-server: huaweiEnvironments" : "environments") + ")."
          + ([.xcode, .localTesting].contains(environment.category)
            ? " \(SelfSignedTesting.remedy)" : ""))
    }
  }
}

extension VerificationPolicy {
  /// Returns the environments that are accepted of a kind of receipt.
  func environments(of kind: ReceiptKind) -> Set<ReceiptEnvironment.Category> {
    switch kind {
    case .googlePlayPurchase, .googlePlayLicense: otherStores[.googlePlay] ?? environments
    case .huaweiPurchase: otherStores[.huawei] ?? environments
    default: environments
    }
  }
}

extension ReceiptKind {
  fileprivate var withArticle: String {
    switch self {
    case .appReceipt: "an app receipt"
    case .transactionReceipt: "a transaction receipt"
    // Correct for every other kind, because none begins with a vowel.
    default: "a \(rawValue)"
    }
  }
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
