// SPDX-License-Identifier: Apache-2.0

import GooglePlay
import ReceiptCodec

/// Fuzzes the messages and answers of Google Play and Cloud Pub/Sub. The first byte says what the rest is: 0 a push
/// request, 1 a set of keys, 2 a subscription, 3 a one-time purchase, 4 voided purchases, 5 an access token, 6 an
/// error, 7 an order, 8 an external transaction, 9 a page of the catalogue.
func fuzzGooglePlay(_ bytes: [UInt8]) {
  let body = Array(bytes.dropFirst())
  switch bytes.first {
  case 0:
    guard let message = try? DeveloperNotificationReceiver.message(in: body) else { return }
    require(1...256 ~= message.messageId.utf8.count, "the identifier is too long")
    requireRoundTrip(message.json, DeveloperNotification.self)
  case 1:
    guard let set = try? JSONWebKeySet(json: body, part: "key set", limits: .standard) else { return }
    for key in set.keys.prefix(8) { _ = key.publicKey }
  case 2: requireRoundTrip(body, SubscriptionPurchaseV2.self)
  case 3: requireRoundTrip(body, ProductPurchaseV2.self)
  case 4: requireRoundTrip(body, VoidedPurchasesResponse.self)
  case 5: requireRoundTrip(body, AccessTokenResponse.self)
  case 6: requireRoundTrip(body, PlayErrorBody.self)
  case 7: requireRoundTrip(body, PlayOrder.self)
  case 8: requireRoundTrip(body, ExternalTransaction.self)
  case 9: requireRoundTrip(body, PlayCatalogSubscriptionsResponse.self)
  default: break
  }
}

/// Requires that a value that can be read is written so that it reads again, and is then written the same.
private func requireRoundTrip<Value: JSONObject>(_ json: [UInt8], _ type: Value.Type) {
  guard let value = try? Value(json: json, part: "answer", limits: .standard) else { return }
  let written = value.encodedJSON()
  let again = mustSucceed("what was written is read") {
    try Value(json: written, part: "answer", limits: .standard)
  }
  require(again.encodedJSON() == written, "what is written changes")
}
