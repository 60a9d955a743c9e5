// SPDX-License-Identifier: Apache-2.0
// README and ReceiptObservability, whose examples need servers: each is in a function with what it takes as given, and is
// not run.

#if SwiftNIO
  import AppStoreServer
  import AuditTrail
  import Entitlements
  import Logging
  import ReceiptHTTP
  import ReceiptHTTPAsyncHTTPClient
  import ReceiptObservability
  import ReceiptSigning
  import ReceiptVerification
  import RemoteChecks
  import ServiceLifecycle
  import Storefront
  import UnixSignals

  /// README.
  func askTheAppStore(
    verifier: ReceiptVerifier, receiptBytes: [UInt8], transport: any HTTPTransport,
    developerSigner: DeveloperSigner
  ) async throws -> Verdict {
    let client = AppStoreServerClient(transport: transport, signer: developerSigner)
    let verdict = await verifier.verify(
      receiptBytes,
      checkers: [AppStoreServerChecker(clients: [client]), RevocationChecker(transport: transport)])
    return verdict
  }

  /// ReceiptObservability.
  func observe(
    logger: Logger, verifier: ReceiptVerifier, receiptBytes: [UInt8], checkers: [any RemoteChecker],
    receiver: NotificationReceiver, body: [UInt8], log: AuditLog, records: [AuditRecord]
  ) async throws -> (Verdict, AppStoreNotification) {
    let observer = ReceiptObserver(logger: logger)
    let verdict = await verifier.verify(receiptBytes, checkers: checkers, observer: observer)
    let notification = try receiver.receive(body, observer: observer)
    try await observer.append(records, to: log)
    return (verdict, notification)
  }

  /// ReceiptObservability.
  func serve(log: AuditLog, store: LocalStore, server: any Service, logger: Logger) async throws {
    let group = ServiceGroup(
      services: [
        ClosingService { try log.close() }, ClosingService(running: store.run) { try await store.close() },
        server,
      ],
      gracefulShutdownSignals: [.sigterm], logger: logger)
    try await group.run()
  }
#endif
