// SPDX-License-Identifier: Apache-2.0

import Entitlements
import ReceiptCodec
import ReceiptVerification

/// A backend that keeps what its customers have bought.
public actor Shop {
  private let receiver: NotificationReceiver
  private let clock: @Sendable () -> Timestamp
  private var ledger = EntitlementLedger()

  /// Creates a shop. The verifier and the clock are arguments, so that a test can pass those of its store.
  public init(verifier: ReceiptVerifier, clock: @escaping @Sendable () -> Timestamp) {
    receiver = NotificationReceiver(verifier: verifier)
    self.clock = clock
  }

  /// Receives a notification of the App Store, and returns the status of the response.
  public func receive(_ body: [UInt8]) -> Int {
    do throws(NotificationRejection) {
      ledger.apply(try receiver.receive(body))
      return NotificationReceiver.acceptedHTTPStatus
    } catch {
      return error.httpStatus
    }
  }

  /// The purchases that give access now.
  public var purchases: [Entitlement] { ledger.entitlements.filter { $0.grantsAccess(at: clock()) } }
}
