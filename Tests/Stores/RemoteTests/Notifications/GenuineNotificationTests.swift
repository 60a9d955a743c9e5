// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import Entitlements
import ReceiptVerification
import Testing

/// Notifications that the App Store signed. They are not part of this repository: the environment variable
/// `RECEIPTKIT_SHARED` names the folder that has them under `receipts`, by default `../shared`.
@Suite struct GenuineNotificationTests {
  private struct Entry: Decodable {
    struct Expected: Decodable {
      let type: String?
      let fields: [String: Field]?
    }

    struct Field: Decodable {
      let text: String?

      init(from decoder: any Decoder) throws {
        text = try? decoder.singleValueContainer().decode(String.self)
      }
    }

    let file: String
    let accept: Bool
    let expected: Expected?
  }

  private static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["RECEIPTKIT_SHARED"] {
      return URL(fileURLWithPath: path).appendingPathComponent("receipts")
    }
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<5 { root.deleteLastPathComponent() }
    return root.deletingLastPathComponent().appendingPathComponent("shared/receipts")
  }()

  private static let entries: [Entry] = {
    guard let manifest = try? Data(contentsOf: folder.appendingPathComponent("manifest.json")) else {
      FileHandle.standardError.write(
        Data("SKIPPED: no genuine notifications at \(folder.path); set RECEIPTKIT_SHARED.\n".utf8))
      return []
    }
    do {
      return try JSONDecoder().decode([Entry].self, from: manifest)
        .filter { $0.file.hasPrefix("jws/") && $0.expected?.type == "notification" }
    } catch {
      Issue.record("The manifest cannot be read: \(error)")
      return []
    }
  }()

  private static let receiver = NotificationReceiver(
    verifier: ReceiptVerifier(
      trust: .apple, policy: VerificationPolicy(bundleIds: .any, environments: [.production, .sandbox])))

  private static func body(_ entry: Entry) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appendingPathComponent(entry.file)))
  }

  @Test(
    "genuine notifications are received; each alone gives the state that it contains",
    .enabled(if: !entries.isEmpty, "no genuine receipts at hand: set RECEIPTKIT_SHARED"))
  func states() throws {
    var withTransaction = 0
    for entry in Self.entries where entry.accept {
      let notification = try Self.receiver.receive(try Self.body(entry))
      #expect(notification.type?.rawValue == entry.expected?.fields?["notificationType"]?.text)
      var ledger = EntitlementLedger()
      guard let id = ledger.apply(notification) else {
        #expect(notification.transaction == nil, "\(entry.file)")
        continue
      }
      withTransaction += 1
      let entitlement = try #require(ledger[id])
      let state = entitlement.state(at: try #require(notification.signedDate))
      let expected: Set<Entitlement.State> =
        switch notification.notification.data?.status {
        case .some(.active): [.active]
        case .some(.expired): [.expired]
        case .some(.billingRetry): [.inBillingRetry]
        case .some(.gracePeriod): [.inGracePeriod]
        case .some(.revoked): [.refunded, .revoked]
        default: Set(Entitlement.State.allCases)
        }
      #expect(
        expected.contains(state),
        "\(entry.file): \(state), status \(String(describing: notification.notification.data?.status))"
      )
      #expect(try EntitlementLedger(decoding: ledger.encoded()) == ledger)
    }
    #expect(withTransaction > 3)
  }

  @Test(
    "all of them together give the same ledger in any order",
    .enabled(if: !entries.isEmpty, "no genuine receipts at hand: set RECEIPTKIT_SHARED"))
  func anyOrder() throws {
    let notifications = try Self.entries.filter(\.accept).map { try Self.receiver.receive(try Self.body($0)) }
    var expected = EntitlementLedger()
    for notification in notifications.inSigningOrder() { expected.apply(notification) }
    var random = SeededRandom(seed: 1)
    for _ in 0..<20 {
      var ledger = EntitlementLedger()
      for notification in (notifications + notifications).shuffled(using: &random) {
        ledger.apply(notification)
      }
      #expect(ledger.encoded() == expected.encoded())
    }
  }

  @Test(
    "edited ones are refused with 400",
    .enabled(if: !entries.isEmpty, "no genuine receipts at hand: set RECEIPTKIT_SHARED"))
  func edited() throws {
    for entry in Self.entries where !entry.accept {
      let body = try Self.body(entry)
      let rejection = #expect(throws: NotificationRejection.self) { try Self.receiver.receive(body) }
      #expect(rejection?.httpStatus == 400, "\(entry.file)")
    }
  }
}
