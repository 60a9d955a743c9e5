// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptHTTP
public import ReceiptVerification

/// Checks with Huawei AppGallery that a purchase is known, paid for and not refunded.
///
/// If ``PurchaseRequirements`` say so, it also checks that a subscription is current.
///
/// The order service's answer contains the purchase and a signature like the receipt's own, which is verified with the
/// keys of the policy. The subscription service documents no signature. Its answer is trusted as Google Play's is:
/// because of the TLS connection and the app's access token. If it sends a signature all the same, the signature must
/// be valid.
public struct HuaweiChecker: RemoteChecker {
  /// `huawei`.
  public let name = "huawei"
  /// Huawei's purchases.
  public let kinds: Set<ReceiptKind>? = [.huaweiPurchase]
  /// The requirements; Huawei's purchases name no account.
  package var requirements: PurchaseRequirements
  private let client: HuaweiClient
  private let verifier: ReceiptVerifier

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests.
  ///   - address: The servers of the region in which the app is sold.
  ///   - clientId: The client identifier of the app in AppGallery Connect.
  ///   - clientSecret: The secret of that client identifier.
  ///   - verifier: Verifies the purchase in the answer; its policy contains the app's key.
  ///   - requirements: The requirements.
  ///   - retry: The retry policy.
  ///   - time: The clocks.
  public init(
    transport: any HTTPTransport, address: HuaweiAddress, clientId: String, clientSecret: Secret,
    verifier: ReceiptVerifier, requirements: PurchaseRequirements = PurchaseRequirements(),
    retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.requirements = requirements
    // Only the signature of an answer is verified here. Who asks evaluates the policy on what the answer states.
    self.verifier = verifier.changing { policy in
      policy.requiresCurrentPurchase = false
      policy.bundleIds = .any
      policy.environments = Set(ReceiptEnvironment.Category.allCases)
      policy.otherStores = [:]
      policy.kinds = [.huaweiPurchase]
    }
    client = HuaweiClient(
      address: address, clientId: clientId, clientSecret: clientSecret,
      caller: RemoteCaller(transport: transport, policy: retry, time: time))
  }

  /// Asks Huawei about the purchase of a receipt.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    guard case .detached(.huaweiPurchase(let purchase)) = receipt.content else {
      return .terminalFailure(message: "Huawei knows its own purchases, not a \(receipt.kind.rawValue).")
    }
    guard let token = purchase.purchaseToken, !token.isEmpty else {
      return .terminalFailure(message: "The purchase states no purchase token to ask about.")
    }
    do throws(CheckFailure) {
      return try await answer(about: purchase, token: token)
    } catch {
      return error.answer
    }
  }

  private func answer(
    about claimed: HuaweiPurchase, token: String
  ) async throws(CheckFailure) -> CheckerAnswer {
    let isSubscription = claimed.kind == .subscription
    if isSubscription, claimed.subscriptionId?.isEmpty ?? true {
      return .terminalFailure(message: "The subscription states no identifier to ask about.")
    }
    let known = try await known(
      token: token, productId: claimed.productId ?? "",
      subscriptionId: isSubscription ? claimed.subscriptionId : nil)
    guard UTF8Text.isIdentical(known.packageName ?? "", claimed.packageName ?? "") else {
      throw CheckFailure.terminal("Huawei answers about another purchase.")
    }
    let now = client.caller.time.now()
    let current = known.timeline(.store).standing(at: now)
    return .response(
      CheckerResponse(
        standing(of: known, claimed: claimed, at: now),
        environment: DetachedContent.huaweiPurchase(known).environment?.category,
        purchases: [CheckedStanding(current)]))
  }

  /// Returns the purchase that Huawei knows by a token, and by its product or subscription.
  ///
  /// - Throws: ``CheckFailure`` if Huawei does not know the purchase or could not be asked.
  func known(
    token: String, productId: String?, subscriptionId: String?
  ) async throws(CheckFailure) -> HuaweiPurchase {
    let answer =
      if let subscriptionId {
        try await client.ask(token: token, subscriptionId: subscriptionId)
      } else {
        try await client.ask(token: token, productId: productId)
      }
    switch answer.responseCode {
    case .success: break
    case .notOwned, .alreadyConsumed, .abnormalAccount:
      throw CheckFailure(.refused(HuaweiClient.message(answer)))
    default: throw CheckFailure.terminal(HuaweiClient.message(answer))
    }
    let known = try verified(answer, mustBeSigned: subscriptionId == nil)
    guard UTF8Text.isIdentical(known.purchaseToken ?? "", token) else {
      throw CheckFailure.terminal("Huawei answers about another purchase.")
    }
    return known
  }

  /// Returns the purchase in an answer. If the answer must be signed or has a signature, the signature is verified with
  /// the app's key.
  private func verified(_ answer: HuaweiAnswer, mustBeSigned: Bool) throws(CheckFailure) -> HuaweiPurchase {
    guard let data = answer.purchaseTokenData ?? answer.inappPurchaseData else {
      throw CheckFailure.terminal("Huawei's answer has no purchase.")
    }
    let signed: UnverifiedDetachedReceipt
    do throws(MalformedReceipt) {
      guard mustBeSigned || answer.dataSignature != nil else {
        return try HuaweiPurchase(json: Array(data.utf8), part: "data", limits: verifier.limits)
      }
      signed = try UnverifiedDetachedReceipt(
        signedBytes: Array(data.utf8), signature: answer.dataSignature ?? "",
        algorithm: answer.signatureAlgorithm)
    } catch {
      throw CheckFailure.terminal("The purchase in Huawei's answer cannot be read: \(error)")
    }
    switch verifier.verify(.detached(signed)) {
    case .valid(let receipt):
      guard case .detached(.huaweiPurchase(let purchase)) = receipt.content else {
        throw CheckFailure.terminal("Huawei's answer is a \(receipt.kind.rawValue).")
      }
      return purchase
    case .invalid(let receipt):
      throw CheckFailure.terminal("The purchase in Huawei's answer is not genuine: \(receipt.reason)")
    case .undetermined(let receipt):
      throw CheckFailure.terminal("The purchase in Huawei's answer cannot be verified: \(receipt.reason)")
    }
  }

  private func standing(
    of known: HuaweiPurchase, claimed: HuaweiPurchase, at now: Timestamp
  ) -> CheckerResponse.Standing {
    if let refusal = requirements.refusal(appAccountToken: nil) { return .refused(message: refusal) }
    switch known.purchaseState {
    case .purchased: break
    case .cancelled, .refunded: return .revoked(at: known.cancelTime)
    case .pending, .initialized: return .refused(message: "The purchase is not paid for yet.")
    case .unknown, nil: return .refused(message: "Huawei names a state of the purchase that is not known.")
    }
    if claimed.kind != .subscription,
      !UTF8Text.isIdentical(known.productId ?? "", claimed.productId ?? "")
    {
      return .refused(message: "Huawei has another product for this purchase.")
    }
    if let cancelTime = known.cancelTime { return .revoked(at: cancelTime) }
    guard requirements.requiresCurrentSubscription, known.kind == .subscription else { return .confirmed }
    let end = [known.expirationDate, known.graceExpirationTime].compactMap(\.self).max()
    return end.map { now < $0 } ?? false
      ? .confirmed : .refused(message: PurchaseRequirements.notActive("expired"))
  }
}

extension HuaweiChecker: CustomStringConvertible, CustomReflectable {
  /// The name, without the client and its secret.
  public var description: String { "HuaweiChecker" }

  /// The name only.
  public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
