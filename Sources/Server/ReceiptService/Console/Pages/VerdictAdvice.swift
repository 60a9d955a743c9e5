// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec
  internal import ReceiptVerification

  extension ReceiptKind {
    /// The kind, as people say it.
    var spokenName: String {
      switch self {
      case .signedTransaction: "signed transaction of the App Store"
      case .signedRenewalInfo: "signed renewal information of the App Store"
      case .signedAppTransaction: "signed app transaction of the App Store"
      case .signedNotification: "notification of the App Store"
      case .signedRealtimeRequest: "realtime request of the App Store"
      case .appReceipt: "app receipt of the App Store"
      case .transactionReceipt: "transaction receipt of the App Store"
      case .googlePlayPurchase: "purchase of Google Play"
      case .googlePlayLicense: "licence of Google Play"
      case .huaweiPurchase: "purchase of Huawei AppGallery"
      }
    }
  }

  extension PurchaseStanding.Status {
    /// Returns a sentence that states what happened to a product, with the date of the change or of the end.
    func sentence(about product: String, since: String, until: String) -> String {
      switch self {
      case .active: "\(product) is active\(until)."
      case .expired: "The paid time of \(product) ended\(since)."
      case .refunded: "The store refunded \(product)\(since)."
      case .revoked: "The store took \(product) back\(since)."
      case .upgraded: "Another purchase replaced \(product)\(since)."
      case .pending: "\(product) is not paid for yet."
      case .consumed: "\(product) was used up\(since)."
      case .unknown: "The receipt does not say whether \(product) still stands."
      }
    }

    /// What a person who helps a customer does next about a genuine receipt.
    var nextStep: String {
      switch self {
      case .active: "Grant what is active."
      case .expired:
        "Grant nothing for this receipt. If the customer says that it renewed, ask for a fresh receipt: “Restore purchases” in the app makes one."
      case .refunded, .revoked: "Grant nothing, and withdraw what was granted for it."
      case .upgraded: "Grant nothing for this receipt. Look at the purchase that replaced it."
      case .pending: "Grant nothing yet. Wait until the store says that it is paid."
      case .consumed: "Grant nothing again."
      case .unknown: "Grant nothing yet. Ask the store about it."
      }
    }
  }

  extension ReasonCode {
    /// What a person who helps a customer does next about a receipt that is not valid.
    var nextStep: String {
      switch self {
      case .malformed:
        "Ask for the receipt again, as a file: mail programs and ticket systems wrap and cut long texts."
      case .unsupportedAlgorithm, .chainLength, .certificatePurpose, .chainExpired, .unsigned,
        .nestedMismatch:
        "Grant nothing for it. Ask for a fresh receipt from the app."
      case .chainUntrusted:
        "Grant nothing for it. If it is of a store of your own, or from Xcode, trust its root in the policy first."
      case .signatureMismatch:
        "Grant nothing for it: something in it was changed. If it was copied by hand, ask for it again as a file."
      case .wrongKind: "Ask for a receipt of another kind: this policy does not accept this one."
      case .wrongBundle, .wrongApp:
        "Grant nothing here: it is a receipt of another app. Choose that app, if it is one of yours."
      case .wrongEnvironment:
        "Grant nothing for it: a purchase in this environment costs nothing. Reviewers and testers buy in the sandbox."
      case .wrongDevice: "Ask for a fresh receipt from the customer's own device."
      case .signedInFuture: "Check the clock of this server, and then verify it again."
      case .tooOld: "Ask for a fresh receipt: “Restore purchases” in the app makes one."
      case .notCurrent: "Grant nothing. If the customer says that it renewed, ask for a fresh receipt."
      case .revoked: "Grant nothing, and withdraw what was granted for it."
      case .checkerRefused: "Grant nothing: the store, or the ledger, does not confirm the purchase."
      case .environmentUnproven: "Ask the store, or accept the claim in the policy."
      case .keyMissing: "Add the app's key from the store's console to the policy, and then verify it again."
      case .issuerMissing: "Add the missing certificate to the policy, and then verify it again."
      case .signingTimeMissing: "Let the policy evaluate it at a given time, and then verify it again."
      case .standingUnknown: "Ask the store about it: the policy needs to know whether the purchase stands."
      case .checkerUnavailable: "The store could not be asked."
      case .internalFault:
        "Nothing follows for the receipt: this server could not compute an answer. Look at its log."
      }
    }
  }

  extension Verdict {
    /// Returns what a person who helps a customer does next, from the standing that the ledger knows.
    func nextStep(_ standing: PurchaseStanding?) -> String {
      switch self {
      case .valid: return standing?.status.nextStep ?? "Nothing is granted for it: it states no purchase."
      case .invalid(let receipt): return receipt.reason.code.nextStep
      case .undetermined(let receipt):
        return receipt.reason.code.nextStep
          + (receipt.isRetryable
            ? " Try again in a minute."
            : receipt.reason.code == .checkerUnavailable
              ? " Trying again does not help: check the credentials." : "")
      }
    }
  }
#endif
