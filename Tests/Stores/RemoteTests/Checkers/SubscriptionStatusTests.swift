// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import AppStoreServer
import RemoteChecks
import ReceiptTesting
import ReceiptVerification
import Testing

/// The status of a subscription, which is not signed, against the signed dates beside it.
@Suite struct SubscriptionStatusTests {
  private static let day: Double = 86_400

  /// Signed dates, in seconds from now.
  struct Dates: Sendable, CustomTestStringConvertible {
    var expires: Double? = -300 * day
    var grace: Double?
    var renewal: Double?
    var revocation: Double?
    var isRetrying: Bool?
    var intent: ExpirationIntent?

    static let running = Dates(expires: 20 * day, renewal: 20 * day)
    static let ended = Dates()
    static let inGrace = Dates(expires: -day, grace: 2 * day, renewal: -day, isRetrying: true)
    static let retrying = Dates(expires: -5 * day, grace: -day, renewal: -5 * day, isRetrying: true)
    static let chargedAhead = Dates(expires: 0.5 * day, renewal: 0.5 * day, isRetrying: true)
    static let revoked = Dates(expires: 20 * day, revocation: -day)
    static let renewed = Dates(expires: -2 * day, renewal: 28 * day)
    static let justEnded = Dates(expires: -600)
    static let nothing = Dates(expires: nil)
    static let cancelled = Dates(expires: -day, grace: 5 * day, isRetrying: false, intent: .cancelled)

    var testDescription: String { "\(self)" }
  }

  private static func checker(
    _ status: Int, _ dates: Dates, requiresCurrentSubscription: Bool = true
  ) throws -> AppStoreServerChecker {
    let receipts = try TestReceipts()
    let date = { (seconds: Double?) in seconds.map { StoreServer.now.addingSeconds($0) } }
    let transaction = try receipts.signedTransaction {
      $0.expiresDate = date(dates.expires)
      $0.revocationDate = date(dates.revocation)
    }
    let renewalInfo = try receipts.signedRenewalInfo {
      $0.renewalDate = date(dates.renewal)
      $0.gracePeriodExpiresDate = date(dates.grace)
      $0.isInBillingRetryPeriod = dates.isRetrying
      $0.expirationIntent = dates.intent
    }
    let transport = FakeTransport(
      .json(
        #"{"data":[{"lastTransactions":[{"status":\#(status),"originalTransactionId":"2000000001","#
          + #""signedTransactionInfo":"\#(transaction)","signedRenewalInfo":"\#(renewalInfo)"}]}]}"#))
    return AppStoreServerChecker(
      clients: [try StoreServer.client(transport)],
      requirements: PurchaseRequirements(requiresCurrentSubscription: requiresCurrentSubscription))
  }

  @Test(
    "a status that contradicts the signed dates leaves the verdict undetermined, and both are named",
    arguments: [
      (1, .ended, "expiresDate 2024-12"), (4, .ended, "expiresDate 2024-12"), (1, .nothing, "no date"),
      (1, .retrying, "expiresDate 2025-09"), (1, .revoked, "revocationDate 2025-09-30"),
      (4, .revoked, "revocationDate 2025-09-30"), (1, .cancelled, "expiresDate 2025-09-30"),
      (2, .running, "expiresDate 2025-10-21"), (2, .inGrace, "gracePeriodExpiresDate 2025-10-03"),
      (2, .renewed, "renewalDate 2025-10-29"), (3, .running, "expiresDate 2025-10-21"),
      (3, .inGrace, "gracePeriodExpiresDate 2025-10-03"), (5, .running, "expiresDate 2025-10-21"),
      (5, .ended, "expiresDate 2024-12"),
    ] as [(Int, Dates, String)])
  func contradiction(status: Int, dates: Dates, signed: String) async throws {
    let receipt = try RemoteFixture.encoded(.signedRenewalInfo)
    for requiresCurrentSubscription in [true, false] {
      let checker = try Self.checker(status, dates, requiresCurrentSubscription: requiresCurrentSubscription)
      // Nor does a policy for outages make it valid.
      let verifier = try RemoteFixture.verifier { $0.offlineRule = .sufficient }
      let verdict = await verifier.verify(receipt, checkers: [checker])
      guard case .undetermined(let undetermined) = verdict else {
        Issue.record("\(verdict)")
        return
      }
      #expect(undetermined.reason.code == .checkerUnavailable)
      #expect(undetermined.reason.message.contains("status \(status) "))
      #expect(undetermined.reason.message.contains(signed), "\(undetermined.reason.message)")
    }
  }

  @Test(
    "a status that agrees with the signed dates counts",
    arguments: [
      (1, .running), (1, .inGrace), (4, .inGrace), (1, .renewed), (1, .justEnded), (4, .running),
    ] as [(Int, Dates)])
  func running(status: Int, dates: Dates) async throws {
    let answer = try await Self.checker(status, dates).check(RemoteFixture.verified(.signedRenewalInfo))
    #expect(answer.withoutStandings == .response(CheckerResponse(.confirmed, environment: .sandbox)))
  }

  @Test(
    "a subscription that does not run by status and dates is refused where a running one is required",
    arguments: [
      (2, .ended), (2, .retrying), (2, .cancelled), (2, .justEnded), (3, .retrying), (3, .ended),
      (3, .chargedAhead),
    ] as [(Int, Dates)])
  func ended(status: Int, dates: Dates) async throws {
    let receipt = try RemoteFixture.verified(.signedRenewalInfo)
    guard case .response(let response) = try await Self.checker(status, dates).check(receipt),
      case .refused(let message) = response.standing
    else {
      Issue.record("not refused")
      return
    }
    #expect(message.contains("status \(status)"))
    let lenient = try Self.checker(status, dates, requiresCurrentSubscription: false)
    #expect(
      await lenient.check(receipt).withoutStandings
        == .response(CheckerResponse(.confirmed, environment: .sandbox)))
  }

  @Test("a signed revocation counts, whether the status is revoked or only ended", arguments: [2, 3, 5])
  func revoked(status: Int) async throws {
    let answer = try await Self.checker(status, .revoked).check(RemoteFixture.verified(.signedRenewalInfo))
    let date = StoreServer.now.addingSeconds(-Self.day)
    #expect(answer == .response(CheckerResponse(.revoked(at: date), environment: .sandbox)))
  }

  @Test("a status that is not known contradicts nothing, and is not a running subscription")
  func unknown() async throws {
    let answer = try await Self.checker(9, .running).check(RemoteFixture.verified(.signedRenewalInfo))
    guard case .response(let response) = answer, case .refused = response.standing else {
      Issue.record("\(answer)")
      return
    }
  }
}
