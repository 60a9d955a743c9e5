// SPDX-License-Identifier: Apache-2.0
// Ask Google Play about a subscription, and fold the answer into the ledger of both stores.

import Entitlements
import GooglePlay
import ReceiptCodec
import ReceiptHTTPCurl
import ReceiptVerification

let keyFile = Array(CommandLine.arguments.dropFirst().joined().utf8)
let purchaseToken = "abcdefghijklmnopqrstuvwx.AO-J1Oz"
let transport = CurlTransport()
defer { transport.shutdown() }

// snippet.client
let client = GooglePlayClient(
  transport: transport, account: try ServiceAccount(keyFile: keyFile), packageName: "com.example.app")
let purchase = try await client.send(.subscription(purchaseToken))
// snippet.end

// snippet.ledger
var ledger = EntitlementLedger()
if let id = PlayEntitlement.ID(packageName: client.packageName, purchaseToken: purchaseToken) {
  ledger.apply(purchase, to: id, asOf: SystemClock.now())
  print(ledger[id]?.grantsAccess(at: SystemClock.now()) == true ? "granted" : "not granted")
}
// snippet.end
