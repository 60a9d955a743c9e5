// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension EmulatorFault {
  /// Reads `{"kind": "cut", "afterBytes": 12}`; the other members have the names of the parameters.
  init(json: JSONValue) throws(EmulatorControl.Failure) {
    func integer(_ name: String, _ fallback: Int? = nil) throws(EmulatorControl.Failure) -> Int {
      if let value = json[name]?.int64.flatMap({ Int(exactly: $0) }) ?? fallback { return value }
      throw EmulatorControl.Failure("A fault lacks the integer \(name).")
    }
    func retryAfter() throws(EmulatorControl.Failure) -> RetryAfterForm? {
      guard let name = json["retryAfter"]?.string else { return nil }
      if let form = RetryAfterForm(rawValue: name) { return form }
      throw EmulatorControl.Failure("retryAfter is milliseconds, seconds or date, not \(name).")
    }
    switch json["kind"]?.string {
    case "delay": self = .delay(milliseconds: try integer("milliseconds"))
    case "never-answer": self = .neverAnswer
    case "cut": self = .cut(afterBytes: try integer("afterBytes"))
    case "reset": self = .reset(afterBytes: try integer("afterBytes"))
    case "content-length": self = .contentLength(off: try integer("off"))
    case "broken-chunks": self = .brokenChunks
    case "not-http": self = .notHTTP
    case "endless-body": self = .endlessBody
    case "endless-head": self = .endlessHead
    case "status":
      self = .status(
        try integer("status"), retryAfter: try retryAfter(), seconds: try integer("seconds", 1))
    case "error":
      self = .error(
        code: Int64(try integer("errorCode")), retryAfter: try retryAfter(),
        seconds: try integer("seconds", 1))
    case "redirect":
      guard let target = json["target"]?.string.flatMap({ RedirectTarget(rawValue: $0) }) else {
        throw EmulatorControl.Failure("The target of a redirect is other-host, same-host or loop.")
      }
      self = .redirect(target)
    case "wrong-json": self = .wrongJSON
    case "truncated-json": self = .truncatedJSON
    case "other-endpoint": self = .otherEndpoint
    case "receipt-status":
      self = .receiptStatus(try integer("status"), isRetryable: json["isRetryable"]?.flag)
    case "flipped-bit": self = .flippedBit
    case "untrusted-signer": self = .untrustedSigner
    case "other-app": self = .otherApp
    case "other-environment": self = .otherEnvironment
    case let kind: throw EmulatorControl.Failure("There is no fault of the kind \(kind ?? "(none)").")
    }
  }
}
