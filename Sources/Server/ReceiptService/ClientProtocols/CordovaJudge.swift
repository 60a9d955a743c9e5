// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import GooglePlay
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptVerification

  /// Decides on a purchase that cordova-plugin-purchase presents, and answers what the customer owns by it.
  ///
  /// The answer tells only of the presented receipt: of its purchases, and of their later renewals and refunds.
  struct CordovaJudge {
    let verification: Verification

    private var now: Timestamp { verification.entitlements.clock() }

    /// - Throws: ``CordovaFailure``; the errors of the database and the trail.
    func answer(to request: CordovaRequest) async throws -> JSONWriter {
      switch request.purchase {
      case .appReceipt(let base64, let transactionId):
        guard let base64 else { throw CordovaFailure.moreDataNeeded("There is no receipt. Refresh it.") }
        let receipt = try await verified(Array(base64.utf8), as: [.appReceipt])
        guard transactionId == nil || !receipt.purchases.isEmpty else {
          throw CordovaFailure.moreDataNeeded("The receipt has no purchase. Refresh it.")
        }
        return try await answer(to: request, about: receipt)
      case .signedTransaction(let jws):
        return try await answer(
          to: request, about: try await verified(Array(jws.utf8), as: [.signedTransaction]))
      case .googlePlay(let data, let signature, let token):
        return try await googlePlay(request, data: data, signature: signature, token: token)
      case .other(let type):
        throw CordovaFailure.invalidPayload(
          "Purchases of \(ShownText.plain(type, limit: 64)) cannot be verified here.")
      }
    }

    private func verified(_ bytes: [UInt8], as kinds: Set<ReceiptKind>) async throws -> VerifiedReceipt {
      let (verdict, _) = try await verification.verdict(on: bytes)
      verification.count([verdict])
      if let reason = verdict.reason {
        switch reason.code {
        // Whether the purchase stands is told for each of them.
        case .notCurrent, .standingUnknown, .revoked: break
        case .checkerUnavailable: throw CordovaFailure.unreachable(reason.description)
        case .internalFault: throw CordovaFailure.internalError(reason.description)
        default: throw CordovaFailure.refused(reason)
        }
      }
      guard let receipt = verdict.signatureVerified, kinds.contains(receipt.kind) else {
        throw CordovaFailure.invalidPayload("The receipt is of another kind than its type says.")
      }
      return receipt
    }

    // MARK: App Store

    private func answer(
      to request: CordovaRequest, about receipt: VerifiedReceipt
    ) async throws -> JSONWriter {
      let now = now
      let app = verification.app
      if app.hearsOfAppStore, receipt.kind == .signedTransaction {
        // The plugin presents another transaction the next time, and must then be told of this one, too.
        do {
          try await verification.entitlements.merge(receipt, customer: nil, app: app.name)
        } catch is EntitlementError {}
      }
      let ledger = try await verification.entitlements.knownPurchases(
        of: [receipt], app: verification.app.name
      )
      .ledger(about: receipt)
      let lines = ledger.appStoreLines(of: receipt)
      let isLatest = lines.allSatisfy { line in
        line.entitlement.map { $0.transactionId == line.latest.transactionId } ?? true
      }
      // The plugin presents only the last signed transaction of a customer.
      let others = try await verification.entitlements.otherPurchases(
        ofHolderOf: receipt, app: verification.app.name)
      let entries =
        lines.compactMap { CordovaPurchase($0, at: now) } + others.compactMap { CordovaPurchase($0, at: now) }
      // An answer takes the place of an earlier one of the same identifier, with everything in it.
      var isComplete = true
      if case .jws(.transaction(let transaction)) = receipt.content {
        isComplete = verification.app.hearsOfAppStore && transaction.appTransactionId?.isEmpty == false
      }
      let id = isComplete ? request.id ?? receipt.bundleId : entries.first?.purchaseId
      return try answer(to: request, id: id, entries, isLatest: isLatest) { json in
        switch receipt.content {
        case .appReceipt(let payload):
          VerifyReceiptDocument(receipt, ledger, at: now).writeMembers(of: payload, to: &json)
        case .jws(.transaction(let payload)): json.members(of: payload.encodedJSON())
        default: break
        }
      }
    }

    // MARK: Google Play

    private func googlePlay(
      _ request: CordovaRequest, data: String?, signature: String?, token: String?
    ) async throws -> JSONWriter {
      let hasKeys = verification.policy.verifier.policy.appKeys.all.contains { $0.store == .googlePlay }
      var signed: (purchase: Purchase, content: GooglePlayPurchase)?
      if hasKeys, let data, let signature {
        var wrapped = JSONWriter()
        wrapped.beginObject()
        wrapped.member("data", data)
        wrapped.member("signature", signature)
        wrapped.endObject()
        let receipt = try await verified(wrapped.bytes, as: [.googlePlayPurchase])
        if let purchase = receipt.purchases.first,
          case .detached(.googlePlayPurchase(let content)) = receipt.content
        {
          signed = (purchase, content)
          // The signature tells enough, unless it is of a subscription, or nobody would tell of a refund.
          let standing = purchase.standing(at: now)
          let mayKnowMore = verification.canAskGooglePlay && !verification.app.hearsOfGooglePlay
          if standing.source == .receipt, standing.status != .unknown, !mayKnowMore {
            return try answer(about: purchase, content, to: request)
          }
        }
      }
      guard let token = signed?.content.purchaseToken ?? token else {
        throw CordovaFailure.invalidPayload("The purchase has no purchase token.")
      }
      switch try await verification.googlePlayFinding(token) {
      case .known(let entitlement):
        return try answer(
          to: request, id: request.id, CordovaPurchase.entries(of: entitlement, at: now), isLatest: true
        ) { json in
          let isSubscription = entitlement.isSubscription
          json.member(
            "kind", "androidpublisher#\(isSubscription ? "subscriptionPurchaseV2" : "productPurchase")")
          json.member("orderId", entitlement.orderId)
          json.member("purchaseToken", token)
          json.member("packageName", entitlement.id.packageName)
        }
      case .noLongerValid: throw CordovaFailure.expired("The purchase expired long ago.")
      case .refused(let reason): throw CordovaFailure.refused(reason)
      case .unavailable(let error): throw CordovaFailure.unreachable(error.description)
      case .noCredentials:
        // The plugin would acknowledge what it is told of, and the customer would not get it.
        guard signed == nil else {
          throw CordovaFailure.unreachable("Only Google Play knows whether the subscription stands.")
        }
        throw CordovaFailure.invalidPayload(
          "The app has no credentials for Google Play, and its notifications have not named this purchase.")
      }
    }

    private func answer(
      about purchase: Purchase, _ content: GooglePlayPurchase, to request: CordovaRequest
    ) throws -> JSONWriter {
      let entries = [CordovaPurchase(purchase, signed: content, at: now)].compactMap(\.self)
      return try answer(to: request, id: request.id, entries, isLatest: true) { json in
        json.member(
          "kind",
          "androidpublisher#\(content.autoRenewing == nil ? "productPurchase" : "subscriptionPurchaseV2")")
        json.members(of: content.encodedJSON())
      }
    }

    // MARK: The answer

    private func answer(
      to request: CordovaRequest, id: String?, _ entries: [CordovaPurchase], isLatest: Bool,
      _ writeTransaction: (inout JSONWriter) -> Void
    ) throws -> JSONWriter {
      if request.isOldClient, !entries.isEmpty, entries.allSatisfy(\.isExpired) {
        throw entries.contains { $0.isConsumed == true }
          ? CordovaFailure.consumed("The purchase was consumed.")
          : CordovaFailure.expired("The purchase does not stand any more.")
      }
      var json = JSONWriter()
      json.beginObject()
      json.member("ok", true)
      json.name("data")
      json.beginObject()
      json.member("id", id ?? request.type)
      json.member("latest_receipt", isLatest)
      json.name("transaction")
      json.beginObject()
      json.member("type", request.type)
      writeTransaction(&json)
      json.endObject()
      json.member("collection", CordovaPurchase.shown(entries).map { $0.asked(about: request.productType) })
      json.member("date", now)
      json.endObject()
      json.endObject()
      return json
    }
  }

  extension JSONWriter {
    /// Writes the members of an object into the current one, except `type`, which has another meaning there.
    fileprivate mutating func members(of json: [UInt8]) {
      guard let members = (try? JSONValue(parsing: json))?.object else { return }
      for member in members where member.name != "type" {
        name(member.name)
        value(member.value)
      }
    }
  }
#endif
