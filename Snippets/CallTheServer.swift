// SPDX-License-Identifier: Apache-2.0
// Ask receipt-server for a verdict, and for what a customer may use. Usage: CallTheServer URL KEY RECEIPT CUSTOMER NAME

import Foundation
import ReceiptHTTPCurl
import ReceiptServiceClient

let arguments = CommandLine.arguments
guard arguments.count == 6 else {
  print("usage: CallTheServer URL KEY RECEIPT CUSTOMER NAME")
  exit(64)
}
let (url, key, customer, name) = (arguments[1], arguments[2], arguments[4], arguments[5])
let receipt = [UInt8](try Data(contentsOf: URL(filePath: arguments[3])))

// snippet.client
let transport = CurlTransport()
let client = ReceiptServerClient(at: try RemoteURL(url), key: Secret(key), transport: transport)
// snippet.end
do {
  // snippet.verdict
  let verdict = try await client.verify(receipt)
  if verdict.isValid {
    // Genuine does not mean paid for: the purchase may have expired, or may have been refunded.
    for purchase in verdict.activePurchases { print("grant", purchase.productId ?? "?") }
  } else if verdict.shouldRetry {
    print("keep the receipt, and ask again later")
  } else {
    print("refuse:", verdict.reason?.code ?? "?")
  }
  // snippet.end
  // snippet.entitlements
  let answer = try await client.getCustomerEntitlements(customer)
  print(name, answer.grantsAccess(to: name) ? "yes" : "no")
  // Nothing is sent again that has not changed.
  let later = try await client.getCustomerEntitlements(customer, known: answer)
  // snippet.end
  print(later == answer ? "unchanged" : "changed")
} catch {
  print("failed:", error)
}
transport.shutdown()
