// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Entitlements
import EntitlementsSQLite
import ReceiptBytes
import ReceiptCodec
import ReceiptVerification
import SQLite

/// `receipt-tool notifications`: receives the notifications of the App Store and of Google Play.
struct NotificationsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notifications",
    abstract:
      "Receive the notifications of the App Store and of Google Play, and see what customers are entitled to.",
    subcommands: [NotificationsServeCommand.self, NotificationsEntitlementsCommand.self])
}

/// The file of the receiver.
struct NotificationStateOptions: ParsableArguments {
  @Option(
    name: .customLong("state"),
    help: ArgumentHelp(
      "The file with the entitlements and the notifications that were dealt with.", valueName: "FILE"))
  var path: String

  func open() throws -> EntitlementStore {
    do { return try EntitlementStore(at: path) } catch { throw Self.failure(error) }
  }

  static func failure(_ error: any Error) -> any Error {
    ToolExit.failure(for: error)
  }
}

/// `receipt-tool notifications entitlements`.
struct NotificationsEntitlementsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "entitlements",
    abstract: "Show what customers are entitled to by the notifications received, also while 'serve' runs.",
    discussion: """
      Prints one JSON object a line: of each original transaction of the App Store
      and each purchase in Google Play its state at the instant of --at, and of each
      customer whose guardian withdrew consent to the app when that was.

      EXAMPLES:
        receipt-tool notifications entitlements --state notifications.sqlite
        receipt-tool notifications entitlements --state notifications.sqlite \\
          --original 2000000001
        receipt-tool notifications entitlements --state notifications.sqlite \\
          --purchase-token TOKEN

      EXIT CODES:
        0 shown; 1 nothing found; 64 wrong command line; 66 no such file, or
        another; 74 it cannot be read, or the output not written.
      """)

  @OptionGroup var state: NotificationStateOptions

  @Option(
    name: .customLong("original"), help: ArgumentHelp("Only this original transaction.", valueName: "ID"))
  var original: String?

  @Option(
    name: .customLong("purchase-token"),
    help: ArgumentHelp("Only this purchase in Google Play.", valueName: "TOKEN"))
  var purchaseToken: String?

  @Option(name: .customLong("at"), help: ArgumentHelp("The instant. Default: now.", valueName: "ISO8601"))
  var at: String?

  @Flag(name: .customLong("json"), help: "Accepted for uniformity: the output is always JSON.")
  var json = false

  func validate() throws {
    try refuse(
      ["--purchase-token": purchaseToken != nil], unless: original == nil, "cannot go with --original")
  }

  func run() throws {
    let instant = try at.map { try APIOptions.instant($0, "--at") } ?? SystemClock.now()
    guard let status = try? FileSystem.status(state.path), status.isRegularFile else {
      throw ToolExit.failure(ToolExit.unreadableInput, "\(state.path): there is no such file")
    }
    var isEmpty = true
    do {
      try state.open().forEachLedger { ledger in
        for entitlement in ledger.entitlements
        where original.map({ $0 == entitlement.originalTransactionId }) ?? (purchaseToken == nil) {
          isEmpty = false
          var object = JSONWriter(.entitlement)
          entitlement.append(to: &object, at: instant)
          try writeLine(object)
        }
        for entitlement in ledger.playEntitlements
        where purchaseToken.map({ $0 == entitlement.id.purchaseToken }) ?? (original == nil) {
          isEmpty = false
          var object = JSONWriter(.playEntitlement)
          entitlement.append(to: &object, at: instant)
          try writeLine(object)
        }
        for consent in ledger.rescindedConsents where original == nil && purchaseToken == nil {
          isEmpty = false
          var object = JSONWriter(.rescindedConsent)
          consent.append(to: &object)
          try writeLine(object)
        }
      }
    } catch { throw NotificationStateOptions.failure(error) }
    if isEmpty { throw ToolExit.failure(ToolExit.invalid, "nothing found", code: "notFound") }
  }
}
