// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

extension Verdict {
  package var word: String {
    switch self {
    case .valid: "valid"
    case .invalid: "invalid"
    case .undetermined: "undetermined"
    }
  }

  /// Writes the members that `receipt-tool verify --json` prints for a verdict. The standing of
  /// purchases is evaluated at the instant, and omitted if it is `nil`.
  package func write(to object: inout JSONWriter, at instant: Timestamp?) {
    object.member("verdict", word)
    object.member("format", kind?.rawValue)
    reason?.write(to: &object)
    switch self {
    case .valid(let receipt): receipt.write(to: &object, at: instant)
    case .undetermined(let receipt):
      object.member("retryable", receipt.isRetryable)
      object.environment(receipt.claimedEnvironment, isProven: receipt.isEnvironmentProven)
    // No statement of an invalid receipt was verified.
    case .invalid: break
    }
    if !checks.isEmpty { object.checks(checks, named: "checks") }
  }
}

extension Reason {
  /// Writes the member of a report.
  func write(to object: inout JSONWriter) {
    object.object("reason") { object in
      object.member("code", code.rawValue)
      object.member("message", message)
      object.member("place", place.isEmpty ? nil : place)
    }
  }
}

extension VerifiedReceipt {
  fileprivate func write(to object: inout JSONWriter, at instant: Timestamp?) {
    object.environment(environment, isProven: isEnvironmentProven)
    object.member("bundleId", bundleId)
    object.member("appAppleId", appAppleId)
    object.member("signedDate", signedAt)
    object.member("expirationDate", expirationDate)
    if let instant { object.member("isExpired", expirationDate.map { $0 <= instant }) }
    object.member("assurance", assurance.rawValue)
    object.object("signer") { object in
      object.member("subject", signer.subject)
      object.member("sha256", signer.sha256)
      object.member("rootSha256", signer.rootSHA256)
      object.member("algorithm", signer.algorithm.rawValue)
      object.member("involvesSha1", signer.involvesSHA1)
    }
    if case .jws(.notification(let notification)) = content {
      object.member("notificationType", notification.notificationType?.rawValue)
      object.member("subtype", notification.subtype?.rawValue)
      object.member("notificationUUID", notification.notificationUUID?.rawValue)
      object.member("status", notification.data?.status?.rawValue)
      object.member("consumptionRequestReason", notification.data?.consumptionRequestReason?.rawValue)
    }
    let purchases = purchases
    if let instant { purchases.writeStanding(to: &object, at: instant) }
    // A purchase has many fields: by its span it is not copied.
    let stated = purchases.span
    object.name("transactions")
    object.beginArray()
    for index in stated.indices where stated[index].unpaidState == nil {
      stated[index].write(to: &object, at: instant)
    }
    object.endArray()
    if let renewalInfo {
      object.name("renewalInfo")
      renewalInfo.write(to: &object)
    }
    if case .detached(let content) = content { content.write(to: &object) }
    let unpaid = purchases.filter { $0.unpaidState != nil }
    if !unpaid.isEmpty { object.array("unpaidPurchases", unpaid) { $0.writeUnpaid(to: &$1, at: instant) } }
  }
}

extension JSONWriter {
  fileprivate mutating func environment(_ environment: ReceiptEnvironment?, isProven: Bool) {
    guard let environment else { return }
    member("environment", environment)
    if !isProven { member("environmentProven", false) }
  }

  fileprivate mutating func checks(_ checks: [CheckerReport], named name: String) {
    array(name, checks) { check, json in
      json.object { object in
        object.member("name", check.name)
        let shown = check.answer.shown
        object.member("answer", shown.word)
        object.member("message", shown.message)
        if case .response(let response) = check.answer {
          object.member("environment", response.environment?.plainName)
        }
        object.member("milliseconds", Int64((check.duration / .milliseconds(1)).rounded()))
        if check.decidedBy != check.name { object.member("decidedBy", check.decidedBy) }
        if !check.parts.isEmpty { object.checks(check.parts, named: "parts") }
      }
    }
  }
}

extension CheckerAnswer {
  /// A word for the answer, and a detail.
  package var shown: (word: String, message: String?) {
    switch self {
    case .terminalFailure(let message): ("failed", message)
    case .retryableFailure(let message): ("unreachable", message)
    case .response(let response):
      switch response.standing {
      case .confirmed: ("confirmed", response.note)
      case .revoked(let instant): ("revoked", instant?.iso8601)
      case .refused(let message): ("refused", message)
      case .unknown: ("unknown", nil)
      }
    }
  }
}

extension Verdict: Encodable {
  /// Encodes the verdict as the object that `receipt-tool verify --json` prints, without the source of the receipt.
  ///
  /// `Schemas/receipt-tool/verdict.schema.json` describes the object. The standing of a purchase is omitted,
  /// because it depends on the time of the question.
  ///
  /// There is no decoding: a verdict that was read from elsewhere proves nothing.
  ///
  /// - Throws: Any error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var object = JSONWriter(type: "verdict")
    write(to: &object, at: nil)
    object.endObject()
    try JSONValue(parsing: object.bytes).encode(to: encoder)
  }
}
