// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import GooglePlay
  internal import HTTPTypes
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptVerification

  /// The states of a purchase in the protocol OpenIAP.
  enum OpenIAPState: String {
    case entitled = "ENTITLED"
    case pendingAcknowledgment = "PENDING_ACKNOWLEDGMENT"
    case readyToConsume = "READY_TO_CONSUME"
    case pending = "PENDING"
    case consumed = "CONSUMED"
    case canceled = "CANCELED"
    case expired = "EXPIRED"
    case inauthentic = "INAUTHENTIC"
    case unknown = "UNKNOWN"

    var isValid: Bool { [.entitled, .pendingAcknowledgment, .readyToConsume].contains(self) }
  }

  /// Decides the state of a purchase that a client of OpenIAP names.
  struct OpenIAPJudge {
    let verification: Verification

    private var now: Timestamp { verification.entitlements.clock() }

    func verdict(on request: OpenIAPRequest) async throws -> OpenIAPVerdict {
      let state: OpenIAPState
      let productId: String?
      switch request.purchase {
      case .apple(let jws):
        (state, productId) = try await apple(jws, expected: request.expectedProductId)
      case .google(let token):
        (state, productId) = try await google(token, expected: request.expectedProductId)
      case .amazon:
        throw OpenIAPFailure(
          .badRequest, "AMAZON_SHARED_SECRET_NOT_CONFIGURED", "Purchases of Amazon cannot be verified here.")
      case .horizon:
        throw OpenIAPFailure(
          .badRequest, "META_HORIZON_APP_ID_NOT_CONFIGURED",
          "Purchases of Meta Horizon cannot be verified here.")
      }
      return OpenIAPVerdict(
        store: request.store, isValid: state.isValid, state: state.rawValue, productId: productId)
    }

    // MARK: Apple

    private func apple(
      _ jws: String, expected: String?
    ) async throws -> (state: OpenIAPState, productId: String?) {
      guard Self.isCompactJWS(jws) else {
        throw OpenIAPFailure(
          .badRequest, "APP_STORE_INVALID_JWS_FORMAT", "It is not three parts in base64url.", path: "jws")
      }
      let (verdict, _) = try await verification.verdict(on: Array(jws.utf8))
      verification.count([verdict])
      return try state(of: verdict, expected: expected)
    }

    /// Returns `true` for three parts in base64url, with dots between them (RFC 7515 section 7.1).
    static func isCompactJWS(_ jws: String) -> Bool {
      let parts = jws.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      return parts.count == 3 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isBase64URL) }
    }

    /// The answer to the verdict on a signed transaction.
    func answer(to verdict: Verdict, expected: String?) throws(OpenIAPFailure) -> OpenIAPVerdict {
      let (state, productId) = try state(of: verdict, expected: expected)
      return OpenIAPVerdict(
        store: "apple", isValid: state.isValid, state: state.rawValue, productId: productId)
    }

    private func state(
      of verdict: Verdict, expected: String?
    ) throws(OpenIAPFailure) -> (state: OpenIAPState, productId: String?) {
      func failed(_ message: String) -> OpenIAPFailure {
        OpenIAPFailure(.badRequest, "APP_STORE_TRANSACTION_VERIFICATION_FAILED", message)
      }
      if let reason = verdict.reason {
        switch reason.code {
        // The state of the purchase says the same.
        case .notCurrent, .standingUnknown, .revoked: break
        case .wrongBundle:
          throw OpenIAPFailure(
            .badRequest, "APP_STORE_BUNDLE_ID_MISMATCH", "The transaction is of another app.")
        default:
          if case .undetermined(let receipt) = verdict, receipt.isRetryable {
            throw OpenIAPFailure.busy(reason.description)
          }
          throw failed("The transaction was refused: \(reason.code.rawValue).")
        }
      }
      guard let receipt = verdict.signatureVerified, receipt.kind == .signedTransaction,
        let purchase = receipt.purchases.first
      else { throw failed("This is no signed transaction.") }
      let status = purchase.standing(at: now).status
      let productId = purchase.productId
      if verdict.reason?.code == .revoked || [.refunded, .revoked].contains(status) {
        return (.canceled, productId)
      }
      if let expected, !UTF8Text.isIdentical(expected, productId ?? "") { return (.inauthentic, productId) }
      return (Self.state(of: purchase, status), productId)
    }

    private static func state(_ status: PurchaseStanding.Status) -> OpenIAPState {
      switch status {
      case .active: .entitled
      case .expired, .upgraded: .expired
      case .refunded, .revoked: .canceled
      case .pending: .pending
      case .consumed: .consumed
      case .unknown: .unknown
      }
    }

    private static func state(of purchase: Purchase, _ status: PurchaseStanding.Status) -> OpenIAPState {
      let isBought = purchase.signed?.transactionReason.map { $0 == .purchase } ?? true
      guard status == .active, purchase.type == .consumable, isBought else { return state(status) }
      return .readyToConsume
    }

    // MARK: Google

    private func google(
      _ token: String, expected: String?
    ) async throws -> (state: OpenIAPState, productId: String?) {
      switch try await verification.googlePlayFinding(token) {
      case .known(let entitlement): return state(of: entitlement, expected: expected)
      case .noLongerValid: return (.unknown, nil)
      case .refused(let reason):
        throw OpenIAPFailure(
          .badRequest, "PLAY_STORE_VERIFICATION_ERROR", "The purchase was refused: \(reason.code.rawValue).")
      case .unavailable(let error): throw Self.failure(error)
      case .noCredentials:
        throw OpenIAPFailure(
          .badRequest, "PLAY_STORE_SERVICE_ACCOUNT_NOT_FOUND",
          "The app has no credentials for Google Play, and its notifications have not named this purchase.")
      }
    }

    private func state(
      of entitlement: PlayEntitlement, expected: String?
    ) -> (state: OpenIAPState, productId: String?) {
      let items = entitlement.items
      func end(_ item: PlayEntitlement.Item) -> Double {
        item.expiryTime?.millisecondsSince1970 ?? -.infinity
      }
      let latest = items.reduce(items.first) { best, item in
        best.map { end($0) >= end(item) } ?? false ? best : item
      }
      var item = latest
      if let expected {
        item = items.first { UTF8Text.isIdentical($0.productId ?? "", expected) }
        guard item != nil else { return (.inauthentic, latest?.productId) }
      }
      guard let item else { return (.unknown, nil) }
      return (state(of: item, in: entitlement), item.productId)
    }

    private func state(of item: PlayEntitlement.Item, in entitlement: PlayEntitlement) -> OpenIAPState {
      let state = entitlement.state(of: item, at: now)
      let isRefunded = state == .refunded || state == .cancelled
      if !isRefunded, entitlement.isSubscription, let end = item.expiryTime, end <= now { return .expired }
      switch state {
      case .active, .inGracePeriod: break
      case .pending, .onHold, .paused: return .pending
      case .consumed: return .consumed
      case .cancelled, .refunded: return .canceled
      case .expired, .replaced: return .expired
      case .unknown: return .unknown
      }
      let consumables = verification.app.configuration.consumables
      if !entitlement.isSubscription, consumables.contains(item.productId ?? "") { return .readyToConsume }
      return entitlement.isAcknowledged ? .entitled : .pendingAcknowledgment
    }

    private static func failure(_ error: GooglePlayError) -> OpenIAPFailure {
      let isTokenRefused = if case .tokenRefused = error.cause { true } else { false }
      if error.isRetryable { return .busy(error.description) }
      switch error.code {
      case .permissionDenied:
        return OpenIAPFailure(.badRequest, "PLAY_STORE_INSUFFICIENT_PERMISSIONS", error.description)
      case .unauthorized:
        return OpenIAPFailure(.badRequest, "PLAY_STORE_AUTHENTICATION_FAILED", error.description)
      default:
        let code = isTokenRefused ? "PLAY_STORE_AUTHENTICATION_FAILED" : "PLAY_STORE_VERIFICATION_ERROR"
        return OpenIAPFailure(.badRequest, code, error.description)
      }
    }
  }

  extension UInt8 {
    /// `true` for a character of base64url (RFC 4648 section 5).
    var isBase64URL: Bool { isASCIILetterOrDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") }
  }
#endif
