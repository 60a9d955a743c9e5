// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The third stage: whether the policy accepts what authenticated content says of itself.
///
/// The order is the same for every kind: kind, time, app, certificate of a test, device, environment. The environment
/// comes last, since it alone can be determined by a checker.
struct PolicyEvaluator: Sendable {
  let policy: VerificationPolicy
  let clock: @Sendable () -> Timestamp

  /// Where the content stands.
  enum Context {
    /// It is the receipt itself.
    case receipt
    /// It is a signed part of a notification: of this kind, in the environment that the notification states. Its age
    /// is the notification's concern.
    case part(of: ReceiptEnvironment?, kind: ReceiptKind)
  }

  /// What was accepted.
  struct Acceptance {
    /// The path whose certificates are valid under the time rule.
    let path: SigningPath
    /// Why the environment is not proven, where the policy requires that and all else was accepted.
    let unprovenEnvironment: Reason?
  }

  /// Evaluates the policy.
  func evaluate(
    _ claims: Claims, signedBy paths: ArraySlice<SigningPath>, in context: Context, trace: Trace?
  ) throws(ValidationError) -> Acceptance {
    try requireKind(claims.kind, in: context)
    let path = try path(validFor: claims, among: paths, in: context, trace: trace)
    try requireApp(claims)
    try requireTestEnvironment(claims, for: path)
    trace?.add(.policy, passed: true, "the app is accepted")
    try requireDevice(claims)
    let unproven = try unprovenEnvironment(of: claims, in: context)
    if unproven == nil { trace?.add(.policy, passed: true, "the environment is accepted") }
    return Acceptance(path: path, unprovenEnvironment: unproven)
  }

  private func requireKind(_ kind: ReceiptKind, in context: Context) throws(ValidationError) {
    switch context {
    case .receipt:
      guard policy.kinds.contains(kind) else {
        throw .invalid(.wrongKind, "The policy does not accept \(kind.withArticle).")
      }
    case .part(_, let expected):
      guard kind == expected else {
        throw .invalid(
          .nestedMismatch, "Here a \(expected.rawValue) belongs, and this is a \(kind.rawValue).")
      }
    }
  }

  // MARK: Time

  private func path(
    validFor claims: Claims, among paths: ArraySlice<SigningPath>, in context: Context, trace: Trace?
  ) throws(ValidationError) -> SigningPath {
    let reference: Timestamp
    if case .at(let instant) = policy.timeRule { reference = instant } else { reference = clock() }

    if let signedAt = claims.signedAt,
      !isSurely(signedAt, notAfter: reference.addingSeconds(policy.allowedClockSkew))
    {
      throw .invalid(
        .signedInFuture,
        "It was signed at \(signedAt.iso8601), after \(reference.iso8601), at which it is evaluated.")
    }
    if let maximumAge = policy.maximumAge, case .receipt = context {
      let signedAt = try requireSigningTime(of: claims)
      guard isSurely(reference, notAfter: signedAt.addingSeconds(maximumAge)) else {
        throw .invalid(
          .tooOld, "It was signed at \(signedAt.iso8601), more than \(maximumAge) seconds before.")
      }
    }
    // What has no certificates does not expire, whenever it was signed.
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

  /// False where either is NaN, so that such a limit accepts nothing.
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
          claims.bundleId.map { "It is a receipt of \"\($0)\", which the policy does not accept." }
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
          stated.map { "It is a receipt of app \($0), not of \(required)." }
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

  /// A receipt that is bound to no device fails a policy that names one.
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

  /// What the signature does not cover proves nothing: a receipt without an environment could be of either store, and
  /// a transaction receipt of the sandbox that was relabelled as production would pass, so that neither can satisfy a
  /// policy that accepts production and not sandbox.
  private func unprovenEnvironment(
    of claims: Claims, in context: Context
  ) throws(ValidationError) -> Reason? {
    var surrounding: ReceiptEnvironment?
    if case .part(let environment, _) = context { surrounding = environment }
    if !claims.isEnvironmentSigned {
      if policy.environments.contains(.production), !policy.environments.contains(.sandbox),
        !policy.acceptsClaimedEnvironment
      {
        return Reason(
          .environmentUnproven, at: "key \"environment\"",
          "The receipt claims the environment \"\(claims.environment?.rawValue ?? "")\", but its signature "
            + "does not cover that. Ask the store (a checker), accept sandbox too, or accept the claim.")
      }
      if let environment = claims.environment { try requireEnvironment(environment) }
    } else if let environment = claims.environment ?? surrounding {
      try requireEnvironment(environment)
    } else if !policy.environments.isSuperset(of: [.production, .sandbox]) {
      return Reason(
        .environmentUnproven,
        "The receipt names no environment; that is enough only for a policy that accepts production "
          + "and sandbox.")
    }
    return nil
  }

  private func requireEnvironment(_ environment: ReceiptEnvironment) throws(ValidationError) {
    guard let category = environment.category, policy.environments.contains(category) else {
      throw .invalid(
        .wrongEnvironment,
        "It is of the environment \"\(environment.rawValue)\"; accepted are: "
          + policy.environments.map(\.rawValue).sorted().joined(separator: ", ") + ".")
    }
  }
}

extension ReceiptKind {
  fileprivate var withArticle: String {
    switch self {
    case .appReceipt: "an app receipt"
    case .transactionReceipt: "a transaction receipt"
    // Right for every other kind: none begins with a vowel.
    default: "a \(rawValue)"
    }
  }
}
