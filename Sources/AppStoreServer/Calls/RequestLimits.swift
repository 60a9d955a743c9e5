// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Refuses requests that break a limit that Apple documents, before they are sent.
struct RequestLimits {
  let endpoint: AppStoreServerEndpoint

  init(_ endpoint: AppStoreServerEndpoint) { self.endpoint = endpoint }

  func demand(_ isMet: Bool, at place: String, _ message: String) throws(AppStoreServerError) {
    guard isMet else {
      throw AppStoreServerError(endpoint, attempts: 0, .invalidRequest(place: place, message: message))
    }
  }

  func demandUUID(_ text: UUIDString, at place: String) throws(AppStoreServerError) {
    try demand(text.uuid != nil, at: place, "It must be a UUID.")
  }

  func demand(_ text: String?, hasAtMost limit: Int, at place: String) throws(AppStoreServerError) {
    guard let text else { return }
    try demand(
      text.count <= limit, at: place, "It has \(text.count) characters; at most \(limit) are allowed.")
  }

  func demandExtension(byDays days: Int64) throws(AppStoreServerError) {
    try demand((1...90).contains(days), at: "$.extendByDays", "It must be 1 to 90, not \(days).")
  }
}
