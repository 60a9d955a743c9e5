// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import GooglePlay
internal import ReceiptCodec
internal import ReceiptHTTP
internal import Storefront

extension PlayError {
  init(_ error: LocalStoreError) {
    switch error.code {
    case .notFound: self = .tokenNotFound
    case .refused: self.init(400, "FAILED_PRECONDITION", "invalidState", error.message)
    case .storage, .corrupt, .signing, .invalidOption:
      self = .internal(error.description)
    }
  }

  var response: RemoteResponse {
    let detail = PlayErrorDetail().with {
      $0.message = message
      $0.domain = domain
      $0.reason = reason
      $0.location = status == 401 ? "Authorization" : nil
      $0.locationType = status == 401 ? "header" : nil
    }
    let answer = PlayErrorBody().with {
      $0.error = PlayErrorStatus().with {
        $0.code = Int64(status)
        $0.message = message
        $0.errors = [detail]
        $0.status = code
      }
    }
    var response = PlayCall.json(answer, status: status)
    if status == 401 {
      response.headers.append(HTTPHeader("WWW-Authenticate", "Bearer realm=\"https://accounts.google.com/\""))
    }
    return response
  }

  /// The error for a failure of the emulator.
  static func `internal`(_ message: String) -> Self {
    Self(500, "INTERNAL", "backendError", message, domain: "global")
  }

  static let unauthenticated = Self(
    401, "UNAUTHENTICATED", "authError", "Request had invalid authentication credentials.", domain: "global")
  static let insufficientScope = Self(
    403, "PERMISSION_DENIED", "insufficientPermissions",
    "Request had insufficient authentication scopes.", domain: "global")
  static let permissionDenied = Self(
    403, "PERMISSION_DENIED", "permissionDenied",
    "The current user has insufficient permissions to perform the requested operation.")
  static let applicationNotFound = Self(
    404, "NOT_FOUND", "applicationNotFound", "No application was found for the given package name.")
  static let invalidToken = Self(400, "INVALID_ARGUMENT", "invalid", "Invalid Value", domain: "global")
  static let tokenNotFound = Self(
    404, "NOT_FOUND", "purchaseTokenNotFound", "The purchase token was not found.")
  static let tokenNoLongerValid = Self(
    410, "FAILED_PRECONDITION", "purchaseTokenNoLongerValid", "The purchase token is no longer valid.")
  static let otherProduct = Self(
    400, "INVALID_ARGUMENT", "purchaseTokenDoesNotMatchProductId",
    "The purchase token does not match the product ID.")
  static let otherSubscription = Self(
    400, "INVALID_ARGUMENT", "purchaseTokenDoesNotMatchSubscriptionId",
    "The purchase token does not match the subscription ID.")
  static let notOwned = Self(
    400, "INVALID_ARGUMENT", "productNotOwnedByUser", "The product purchase is not owned by the user.")
  static let subscriptionNotOwned = Self(
    400, "INVALID_ARGUMENT", "subscriptionInvalidState",
    "The subscription is not in a valid state for the requested operation.")
  static let orderNotFound = Self(404, "NOT_FOUND", "orderNotFound", "The order ID was not found.")
  static let alreadyRefunded = Self(
    400, "FAILED_PRECONDITION", "orderAlreadyRefunded", "The order was refunded already.")
  static let concurrentUpdate = Self(
    409, "ABORTED", "concurrentUpdate", "The purchase was changed meanwhile. Get it again.")
  static let staleTag = Self(
    400, "FAILED_PRECONDITION", "staleEtag", "The etag is not that of the subscription now. Get it again.")
  static let noPendingReview = Self(
    400, "FAILED_PRECONDITION", "pendingRefundTokenInvalid",
    "The order has no pending refund review with this token.")
  static let externalTransactionNotFound = Self(
    404, "NOT_FOUND", "externalTransactionNotFound", "The external transaction was not found.")
  static let alreadyExists = Self(
    409, "ALREADY_EXISTS", "alreadyExists", "The identifier is in use already.")
  static let productNotFound = Self(404, "NOT_FOUND", "productNotFound", "The product was not found.")
  static let notFound = Self(404, "NOT_FOUND", "notFound", "Not Found", domain: "global")

  static func invalidArgument(_ message: String) -> Self {
    Self(400, "INVALID_ARGUMENT", "invalid", message, domain: "global")
  }

  static func quotaExceeded(_ bucket: PlayQuotas.Bucket) -> Self {
    bucket == .voidedPurchases
      ? Self(403, "PERMISSION_DENIED", "quotaExceeded", "Quota exceeded for \(bucket.rawValue).")
      : Self(
        429, "RESOURCE_EXHAUSTED", "rateLimitExceeded",
        "Quota exceeded for quota metric '\(bucket.rawValue)' and limit 'per minute'.", domain: "global")
  }
}
