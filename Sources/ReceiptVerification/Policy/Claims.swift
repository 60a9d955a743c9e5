// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// What a receipt of any kind says of itself, once its signature was found right.
struct Claims {
  let kind: ReceiptKind
  let environment: ReceiptEnvironment?
  let bundleId: String?
  let appAppleId: Int64?
  let signedAt: Timestamp?
  /// A part inside a notification: its age is the notification's concern.
  let isNested: Bool

  /// Kinds that name no bundle at all (facts of the App Store's formats).
  var namesBundle: Bool { kind != .signedRenewalInfo && kind != .signedRealtimeRequest }

  /// Kinds that always state the app's identifier in production.
  var statesApp: Bool {
    switch kind {
    case .signedAppTransaction, .signedNotification, .signedRealtimeRequest, .appReceipt: true
    case .signedTransaction, .signedRenewalInfo, .transactionReceipt: false
    }
  }
}

extension ReceiptVerifier {
  /// Judges time and app, and picks the chain that is valid under the time rule. The environment is judged
  /// last, by ``judgeEnvironment(of:)``: it alone may be settled by a checker.
  func judge(_ claims: Claims, chains: [SigningChain]) throws(Objection) -> SigningChain {
    let chain = try judgeTime(of: claims, chains: chains)
    try judgeApp(of: claims)
    if chain.assurance == .pinnedTestCertificate {
      guard [.xcode, .localTesting].contains(claims.environment?.category) else {
        throw .invalid(
          .chainUntrusted, at: "certificate 0",
          "A pinned test certificate signs for Xcode or local testing alone, and this receipt says "
            + "\"\(claims.environment?.rawValue ?? "nothing")\".")
      }
    }
    explain(.policy, passed: true, "the app is accepted")
    return chain
  }

  private func judgeTime(of claims: Claims, chains: [SigningChain]) throws(Objection) -> SigningChain {
    let reference: Timestamp
    if case .at(let instant) = policy.timeRule { reference = instant } else { reference = clock() }

    if let signedAt = claims.signedAt,
      !isSurely(signedAt, notAfter: reference.addingSeconds(policy.allowedClockSkew))
    {
      throw .invalid(
        .signedInFuture,
        "It was signed at \(signedAt.iso8601), after \(reference.iso8601), at which it is judged.")
    }
    if let maximumAge = policy.maximumAge, !claims.isNested {
      let signedAt = try demandSigningTime(of: claims)
      guard isSurely(reference, notAfter: signedAt.addingSeconds(maximumAge)) else {
        throw .invalid(
          .tooOld, "It was signed at \(signedAt.iso8601), more than \(maximumAge) seconds before.")
      }
    }
    let instant: Timestamp
    switch policy.timeRule {
    case .atSigning: instant = try demandSigningTime(of: claims)
    case .at(let given): instant = given
    case .now: instant = reference
    }
    if let chain = chains.first(where: { $0.isValid(at: instant) }) {
      explain(.time, passed: true, "the certificates were valid at \(instant.iso8601)")
      return chain
    }
    guard let (index, certificate) = chains.first?.invalidCertificate(at: instant) else {
      throw .invalid(.chainUntrusted, "No path leads from the signer to a trusted root.")
    }
    throw .invalid(
      .chainExpired, at: "certificate \(index)",
      "\"\(certificate.subject)\" is valid from "
        + "\(Timestamp(secondsSince1970: certificate.notBefore).iso8601Seconds) to "
        + "\(Timestamp(secondsSince1970: certificate.notAfter).iso8601Seconds), and the receipt is judged "
        + "at \(instant.iso8601).")
  }

  /// False where either is no number, so that a limit that is none accepts nothing.
  private func isSurely(_ instant: Timestamp, notAfter other: Timestamp) -> Bool {
    instant.millisecondsSince1970 <= other.millisecondsSince1970
  }

  private func demandSigningTime(of claims: Claims) throws(Objection) -> Timestamp {
    guard let signedAt = claims.signedAt else {
      throw .undetermined(
        Reason(
          .signingTimeMissing,
          "The receipt does not say when it was signed. Judge it at a given time, or now "
            + "(receipt-tool: --time)."))
    }
    return signedAt
  }

  private func judgeApp(of claims: Claims) throws(Objection) {
    if case .oneOf(let accepted) = policy.bundleIds, claims.namesBundle {
      guard let bundleId = claims.bundleId, accepted.contains(where: { hasSameBytes($0, bundleId) }) else {
        throw .invalid(
          .wrongBundle,
          claims.bundleId.map { "It is a receipt of \"\($0)\", which the policy does not accept." }
            ?? "It names no bundle identifier.")
      }
    }
    if let demanded = policy.appAppleId {
      // App receipts of the sandbox state 0.
      let stated = claims.appAppleId == 0 ? nil : claims.appAppleId
      let isRequired = claims.statesApp && claims.environment?.category == .production
      guard stated == demanded || (stated == nil && !isRequired) else {
        throw .invalid(
          .wrongApp,
          stated.map { "It is a receipt of app \($0), not of \(demanded)." }
            ?? "A production receipt of this kind states its app's identifier; this one does not.")
      }
    }
  }

  /// Swift compares strings by canonical equivalence; identifiers are compared byte for byte.
  func hasSameBytes(_ left: String, _ right: String) -> Bool {
    left.utf8.elementsEqual(right.utf8)
  }

  /// Whether the policy accepts the environment. What the signature does not cover proves nothing: a receipt
  /// without one could be of either store, and a transaction receipt of the sandbox that was relabelled as
  /// production would pass, so that neither can satisfy a policy that accepts production and not sandbox.
  /// `surrounding` is what the notification around a signed part says; its signature covers the part.
  func judgeEnvironment(
    of receipt: VerifiedReceipt, surrounding: ReceiptEnvironment? = nil
  ) throws(Objection) {
    if receipt.kind == .transactionReceipt {
      try judgeClaimedEnvironment(of: receipt)
    } else if let environment = receipt.environment ?? surrounding {
      try demandAccepted(environment)
    } else if !policy.environments.isSuperset(of: [.production, .sandbox]) {
      throw .undetermined(
        Reason(
          .environmentUnproven,
          "The receipt names no environment; that is enough only for a policy that accepts production "
            + "and sandbox."),
        signatureVerified: receipt)
    }
    explain(.policy, passed: true, "the environment is accepted")
  }

  private func demandAccepted(_ environment: ReceiptEnvironment) throws(Objection) {
    guard let category = environment.category, policy.environments.contains(category) else {
      throw .invalid(
        .wrongEnvironment,
        "It is of the environment \"\(environment.rawValue)\"; accepted are: "
          + policy.environments.map(\.rawValue).sorted().joined(separator: ", ") + ".")
    }
  }

  private func judgeClaimedEnvironment(of receipt: VerifiedReceipt) throws(Objection) {
    if policy.environments.contains(.production), !policy.environments.contains(.sandbox),
      !policy.acceptsClaimedEnvironment
    {
      throw .undetermined(
        Reason(
          .environmentUnproven, at: "key \"environment\"",
          "The receipt claims the environment \"\(receipt.environment?.rawValue ?? "")\", but its signature "
            + "does not cover that. Ask the store (a checker), accept sandbox too, or accept the claim."),
        signatureVerified: receipt)
    }
    if let environment = receipt.environment { try demandAccepted(environment) }
  }
}
