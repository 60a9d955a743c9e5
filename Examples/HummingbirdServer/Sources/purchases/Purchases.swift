// SPDX-License-Identifier: Apache-2.0
// Usage: purchases [ROOT-CERTIFICATES [PORT]]. Without a file of roots, Apple's are trusted. The port is 8080; 0 is any that is
// free.

import Entitlements
import Foundation
import Hummingbird
import Logging
import ReceiptCodec
import ReceiptCrypto
import ReceiptObservability
import ReceiptVerification
import Synchronization

@main struct Purchases {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    let trust =
      try arguments.first.map {
        TrustAnchors(
          certificates: try Certificate.certificates(in: [UInt8](Data(contentsOf: URL(filePath: $0)))))
      } ?? .apple
    let verifier = ReceiptVerifier(
      trust: trust,
      policy: VerificationPolicy(
        bundleIds: .oneOf(["com.example.app"]), environments: [.production, .sandbox]))
    let logger = Logger(label: "purchases")
    let observer = ReceiptObserver(logger: logger)
    let receiver = NotificationReceiver(verifier: verifier)
    // In memory, for the example: keep it in your database, in the transaction that records the notification.
    let ledger = Mutex(EntitlementLedger())

    let router = Router(context: PurchaseContext.self)
    router.post("notifications") { request, _ -> HTTPResponse.Status in
      let body = try await request.body.collect(upTo: 1 << 20)
      do throws(NotificationRejection) {
        let notification = try receiver.receive(Array(body.readableBytesView), observer: observer)
        _ = ledger.withLock { $0.apply(notification) }
        return .ok
      } catch {
        return .init(code: error.httpStatus)
      }
    }
    router.add(middleware: ReceiptMiddleware(verifier: verifier, observer: observer))
      .post("purchases") { _, context -> String in
        (context.receipt?.activePurchases(at: SystemClock.now()) ?? []).compactMap(\.productId)
          .joined(separator: "\n")
      }

    let port = arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
    let server = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
    try await server.runService()
  }
}
