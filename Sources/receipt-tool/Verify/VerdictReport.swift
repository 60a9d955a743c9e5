// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptBytes
import ReceiptCodec
import ReceiptVerification

/// What is printed of each receipt.
enum VerdictOutput {
  case text, json
  /// The payload of a valid one.
  case payload
}

/// Prints a verdict.
struct VerdictReport {
  let source: String
  let index: Int?
  let verdict: Verdict
  /// When subscriptions are evaluated: the instant of `--time`, or when the command began. `nil` where what is printed
  /// must not depend on the clock.
  let instant: Timestamp?
  /// The key of the line, which stands in place of `source` and `index`: what is printed then depends on the line alone.
  var key: String?
  /// The entry that records it.
  var recorded: AuditAcknowledgement?

  private var word: String {
    switch verdict {
    case .valid: "valid"
    case .invalid: "invalid"
    case .undetermined: "undetermined"
    }
  }

  /// What is printed of a line of the input: exactly one line, but for text.
  func line(_ output: VerdictOutput, _ colors: Colors) throws -> [UInt8] {
    switch (output, verdict) {
    case (.text, _): Array(colors.painted(text()).utf8)
    case (.payload, .valid(let receipt)): try PayloadReport.line(of: receipt)
    case (.json, _), (.payload, _): jsonLine()
    }
  }

  /// A few lines for a person.
  func text() -> String {
    let place = key ?? index.map { "\(source):\($0)" } ?? source
    var lines = ["\(word.uppercased())  \(verdict.kind?.rawValue ?? "unknown format")  \(place)"]
    func add(_ name: String, _ value: String?) {
      guard let value else { return }
      lines.append("  " + name + String(repeating: " ", count: max(1, 13 - name.count)) + value)
    }
    if let reason = verdict.reason {
      add("reason", reason.code.rawValue)
      add("", reason.message)
      if !reason.place.isEmpty { add("where", reason.place) }
    }
    if case .undetermined(let receipt) = verdict {
      add(
        "environment",
        receipt.claimedEnvironment.map {
          receipt.isEnvironmentProven ? $0.outputName : "\($0.outputName) (claimed, not signed)"
        })
      add("retry", receipt.isRetryable ? "may help" : "will not help")
    }
    if let receipt = verdict.receipt {
      let environment = receipt.environment.map {
        receipt.isEnvironmentProven ? $0.outputName : "\($0.outputName) (claimed, not signed)"
      }
      add("app", receipt.bundleId)
      add("environment", environment)
      add("signed", receipt.signedAt?.iso8601)
      add("signer", "\(receipt.signer.subject) (\(receipt.signer.algorithm.rawValue))")
      if receipt.assurance == .pinnedTestCertificate {
        add("NOTE", "test data under a pinned certificate: this proves no purchase")
      }
      if case .jws(.notification(let notification)) = receipt.content {
        add(
          "announces",
          Self.text(notification.notificationType?.rawValue, notification.notificationType?.meaning))
        add("", Self.text(notification.subtype?.rawValue, notification.subtype?.meaning))
        add("", notification.notificationUUID?.rawValue)
      }
      for purchase in PurchaseReport.all(of: receipt, at: instant) { add("transaction", purchase.text) }
      add("renewal", RenewalReport(of: receipt)?.text)
      if case .detached(let content) = receipt.content {
        for line in DetachedReport(content: content).lines { add(line.name, line.value) }
      }
    }
    for check in verdict.checks {
      let said = Self.said(check.answer)
      add("checked", "\(check.name): \(said.word)\(said.message.map { ": \($0)" } ?? "")")
    }
    add("recorded", recorded.map { "entry \($0.index)\($0.isRepeat ? ", as it was before" : "")" })
    return lines.map { ShownText.plain($0) }.joined(separator: "\n") + "\n"
  }

  private static func text(_ value: String?, _ meaning: String?) -> String? {
    value.map { value in meaning.map { "\(value): \($0)" } ?? value }
  }

  /// One JSON object and a line feed. Absent fields are left out.
  func jsonLine() -> [UInt8] {
    var object = JSONWriter(.verdict)
    if let key {
      object.member("key", key)
    } else {
      object.member("source", source)
      if let index { object.member("index", Int64(index)) }
    }
    object.member("verdict", word)
    object.member("format", verdict.kind?.rawValue)
    if let reason = verdict.reason {
      object.name("reason")
      object.beginObject()
      object.member("code", reason.code.rawValue)
      object.member("message", reason.message)
      object.member("place", reason.place.isEmpty ? nil : reason.place)
      object.endObject()
    }
    if case .undetermined(let receipt) = verdict {
      object.member("retryable", receipt.isRetryable)
      if let environment = receipt.claimedEnvironment {
        append(environment, isProven: receipt.isEnvironmentProven, to: &object)
      }
    }
    if let receipt = verdict.receipt { append(receipt, to: &object) }
    if !verdict.checks.isEmpty { append(verdict.checks, named: "checks", to: &object) }
    if let recorded {
      object.member("entry", recorded.index)
      object.member("repeated", recorded.isRepeat)
    }
    return object.line()
  }

  private func append(_ checks: [CheckerReport], named name: String, to object: inout JSONWriter) {
    object.name(name)
    object.beginArray()
    for check in checks {
      object.beginObject()
      object.member("name", check.name)
      let said = Self.said(check.answer)
      object.member("answer", said.word)
      object.member("message", said.message)
      if case .response(let response) = check.answer {
        object.member("environment", response.environment?.outputName)
      }
      object.member("milliseconds", Int64((check.duration / .milliseconds(1)).rounded()))
      if check.decidedBy != check.name { object.member("decidedBy", check.decidedBy) }
      if !check.parts.isEmpty { append(check.parts, named: "parts", to: &object) }
      object.endObject()
    }
    object.endArray()
  }

  private static func said(_ answer: CheckerAnswer) -> (word: String, message: String?) {
    switch answer {
    case .terminalFailure(let message): ("failed", message)
    case .retryableFailure(let message): ("unreachable", message)
    case .response(let response):
      switch response.standing {
      case .confirmed: ("confirmed", response.note)
      case .revoked(let instant): ("revoked", instant?.iso8601)
      case .refused(let message): ("refused", message)
      }
    }
  }

  private func append(_ environment: ReceiptEnvironment, isProven: Bool, to object: inout JSONWriter) {
    object.member("environment", environment)
    if !isProven { object.member("environmentProven", false) }
  }

  private func append(_ notification: Notification, to object: inout JSONWriter) {
    object.member("notificationType", notification.notificationType?.rawValue)
    object.member("subtype", notification.subtype?.rawValue)
    object.member("notificationUUID", notification.notificationUUID?.rawValue)
    object.member("status", notification.data?.status?.rawValue)
    object.member("consumptionRequestReason", notification.data?.consumptionRequestReason?.rawValue)
  }

  private func append(_ receipt: VerifiedReceipt, to object: inout JSONWriter) {
    if let environment = receipt.environment {
      append(environment, isProven: receipt.isEnvironmentProven, to: &object)
    }
    object.member("bundleId", receipt.bundleId)
    object.member("appAppleId", receipt.appAppleId)
    object.member("signedDate", receipt.signedAt)
    object.member("assurance", receipt.assurance.rawValue)
    object.name("signer")
    object.beginObject()
    object.member("subject", receipt.signer.subject)
    object.member("sha256", receipt.signer.sha256)
    object.member("rootSha256", receipt.signer.rootSHA256)
    object.member("algorithm", receipt.signer.algorithm.rawValue)
    object.member("involvesSha1", receipt.signer.involvesSHA1)
    object.endObject()
    if case .jws(.notification(let notification)) = receipt.content { append(notification, to: &object) }
    object.name("transactions")
    object.beginArray()
    for purchase in PurchaseReport.all(of: receipt, at: instant) { purchase.write(to: &object) }
    object.endArray()
    if let renewal = RenewalReport(of: receipt) {
      object.name("renewalInfo")
      renewal.write(to: &object)
    }
    if case .detached(let content) = receipt.content { DetachedReport(content: content).append(to: &object) }
  }
}
