// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import Entitlements
import ReceiptCodec
import ReceiptVerification

extension NotificationsFoldCommand {
  func validate() throws {
    // Apple signs the notifications of all apps with the same key.
    guard !policy.bundleIds.isEmpty else { throw ValidationError("Name the app with --bundle-id.") }
  }

  func run() throws {
    let instant = try at.map { try parseInstant($0, "--at") } ?? SystemClock.now()
    let resolved = try trust.resolve()
    let receiver = NotificationReceiver(
      verifier: ReceiptVerifier(
        trust: resolved.anchors, policy: try policy.policy(resolved), intermediates: resolved.intermediates))
    var ledger = EntitlementLedger()
    var worst: ExitCode?
    for file in files {
      let contents = try InputFile.contents(of: file)
      for (place, notification) in Self.notifications(in: contents, file) {
        do throws(NotificationRejection) {
          ledger.apply(try receiver.receive(notification))
        } catch {
          let code = error.httpStatus == 503 ? ExitCode.undetermined : ExitCode.invalid
          note("receipt-tool: \(place): \(error)")
          try Output.Error(code, "\(error)", source: place).write()
          worst = worst == ExitCode.invalid ? worst : code
        }
      }
    }
    let count = try write(ledger, at: instant)
    if let original, count == 0, worst == nil {
      throw ToolExit.failure(
        .invalid, "no notification is about the original transaction \(original)", code: "notFound")
    }
    if let worst { throw worst }
  }

  /// The notifications in a file, each with its place.
  private static func notifications(in contents: [UInt8], _ file: String) -> [(place: String, [UInt8])] {
    let lines = contents.split(separator: UInt8(ascii: "\n")).enumerated().compactMap { number, line in
      let line = ReceiptText.trimming(Array(line))
      return line.isEmpty ? nil : ("\(file):\(number + 1)", line)
    }
    // A pretty-printed object has lines that begin otherwise.
    let isList =
      lines.count > 1 && lines.allSatisfy { $0.1.first == UInt8(ascii: "{") || $0.1.starts(with: "ey".utf8) }
    return isList ? lines : [(file, contents)]
  }

  /// Prints the entitlements, and returns their number.
  private func write(_ ledger: EntitlementLedger, at instant: Timestamp) throws -> Int {
    let entitlements = ledger.entitlements.filter {
      original == nil || $0.originalTransactionId == original
    }
    for entitlement in entitlements {
      try writeAll(JSONWriter.line("entitlement") { entitlement.append(to: &$0, at: instant) })
    }
    let consents = original == nil ? ledger.rescindedConsents : []
    for consent in consents {
      try writeAll(JSONWriter.line("rescinded-consent") { consent.append(to: &$0, at: instant) })
    }
    return entitlements.count + consents.count
  }
}
