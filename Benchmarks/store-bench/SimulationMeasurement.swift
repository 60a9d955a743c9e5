// SPDX-License-Identifier: Apache-2.0

import Measuring
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import Entitlements
import ReceiptSigning
import ReceiptVerification
import StoreSimulation
import Storefront

/// A simulated year, each event signed as transaction, renewal information and notification. Nothing is kept of an
/// event once it was signed, unless the notifications are to be folded afterwards.
enum SimulationMeasurement {
  static func run(subscriptions count: Int, seed: UInt64, folds: Bool) throws {
    let identity = try SigningIdentity.create(
      .init(organization: "Bench", start: SimulatedYear.start.addingSeconds(-86_400)))
    let tally = Tally(signer: try StoreEventSigner(identity: identity), keeps: folds)
    var year = SimulatedYear(subscriptions: count, seed: seed) { try tally.take($0) }
    let start = Clock.seconds()
    try year.run()
    let seconds = Clock.seconds() - start
    print(
      "\(count) subscriptions, a year, seed \(seed): \(tally.events) events, \(tally.events * 3) signatures at most"
    )
    for (name, number) in tally.names.sorted(by: { $0.key < $1.key }) { print("  \(number)\t\(name)") }
    let digest = Hexadecimal.encode(tally.takePayloadDigest())
    print("payloads: \(tally.payloadBytes >> 20) MiB, sha256 \(digest)")
    print("notifications: \(tally.notificationBytes >> 20) MiB")
    print(
      "\(rounded(seconds, decimals: 2)) s, resident \(memory("VmRSS")) MiB now, \(memory("VmHWM")) MiB at most"
    )
    if folds { try fold(tally, trusting: identity, into: year.engine, seed: seed) }
  }

  /// Verifies the notifications as a server does that trusts the store's root, folds them in three random orders, and
  /// compares each resulting ledger with the engine.
  private static func fold(
    _ tally: Tally, trusting identity: SigningIdentity, into engine: SubscriptionEngine, seed: UInt64
  ) throws {
    guard let root = identity.chain.last else { throw Failure("The identity has no root.") }
    let receiver = NotificationReceiver(
      verifier: ReceiptVerifier(
        trust: TrustAnchors(certificates: [root]),
        policy: VerificationPolicy(bundleIds: .any, environments: [.sandbox]), clock: { SimulatedYear.end }))
    var random = SeededGenerator(seed: seed)
    for _ in 0..<3 {
      let start = Clock.seconds()
      var ledger = EntitlementLedger()
      for notification in tally.notifications.shuffled(using: &random) {
        ledger.apply(try receiver.receive(Array(notification.utf8)))
      }
      let found = ledger.disagreements(
        with: engine, lastSigned: tally.lastSigned, bundleIdentifier: SimulatedYear.bundleIdentifier,
        at: SimulatedYear.end)
      print(
        "folded in a random order: \(tally.notifications.count) notifications in "
          + "\(rounded(Clock.seconds() - start, decimals: 2)) s, \(ledger.count) subscriptions, "
          + "\(found.count) otherwise than the engine has them")
      guard found.isEmpty, ledger.count == engine.subscriptions.count else {
        throw Failure(found.prefix(10).joined(separator: "\n"))
      }
    }
  }

  /// Signs events, and counts them.
  private final class Tally {
    private let signer: StoreEventSigner
    private let keeps: Bool
    var events = 0
    var payloadBytes = 0
    var notificationBytes = 0
    var names: [String: Int] = [:]
    private var digest = IncrementalDigest(.sha256)
    var notifications: [String] = []
    var lastSigned: [String: Timestamp] = [:]

    init(signer: StoreEventSigner, keeps: Bool) {
      self.signer = signer
      self.keeps = keeps
    }

    /// Of all payloads so far; the next ones begin anew.
    func takePayloadDigest() -> [UInt8] {
      var taken = IncrementalDigest(.sha256)
      swap(&taken, &digest)
      return taken.finalize()
    }

    func take(_ event: StoreEvent) throws {
      let signed = try signer.sign(event)
      events += 1
      notificationBytes += signed.notification.utf8.count
      for payload in [event.transaction.encodedJSON(), event.renewalInfo?.encodedJSON() ?? []] {
        payloadBytes += payload.count
        digest.update(payload)
      }
      names[event.type.rawValue + (event.subtype.map { " " + $0.rawValue } ?? ""), default: 0] += 1
      guard keeps else { return }
      notifications.append(signed.notification)
      lastSigned[event.originalTransactionIdentifier] = event.signedDate
    }
  }
}
