// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension EmulatorFault {
  /// The kinds, by their names in JSON.
  private enum Kind: String, CaseIterable {
    case delay, cut, reset, status, error, redirect
    case neverAnswer = "never-answer"
    case contentLength = "content-length"
    case brokenChunks = "broken-chunks"
    case notHTTP = "not-http"
    case endlessBody = "endless-body"
    case endlessHead = "endless-head"
    case rateLimit = "rate-limit"
    case wrongJSON = "wrong-json"
    case truncatedJSON = "truncated-json"
    case otherEndpoint = "other-endpoint"
    case receiptStatus = "receipt-status"
    case flippedBit = "flipped-bit"
    case untrustedSigner = "untrusted-signer"
    case otherApp = "other-app"
    case otherEnvironment = "other-environment"
  }

  /// Reads `{"kind": "cut", "afterBytes": 12}`; the other members have the names of the parameters.
  init(json: JSONValue) throws(EmulatorControl.Failure) {
    var object = try ControlObject(json, "A fault")
    let kind = try object.required("kind", object.choice("kind", of: Kind.self))
    object.name = "A fault of the kind \(kind.rawValue)"
    func integer(
      _ name: String, in range: ClosedRange<Int> = 0 ... .max
    ) throws(EmulatorControl.Failure) -> Int {
      try object.required(name, object.integer(name, in: range))
    }
    func seconds() throws(EmulatorControl.Failure) -> Int {
      try object.integer("seconds", in: 0...Self.mostSeconds) ?? 1
    }
    switch kind {
    case .delay: self = .delay(milliseconds: try integer("milliseconds", in: 0...Self.mostSeconds * 1000))
    case .neverAnswer: self = .neverAnswer
    case .cut: self = .cut(afterBytes: try integer("afterBytes"))
    case .reset: self = .reset(afterBytes: try integer("afterBytes"))
    case .contentLength: self = .contentLength(off: try integer("off", in: .min ... .max))
    case .brokenChunks: self = .brokenChunks
    case .notHTTP: self = .notHTTP
    case .endlessBody: self = .endlessBody
    case .endlessHead: self = .endlessHead
    case .status:
      self = .status(
        try integer("status", in: 200...599), retryAfter: try object.choice("retryAfter"),
        seconds: try seconds())
    case .error:
      self = .error(
        code: Int64(try integer("errorCode", in: 2_000_000...5_999_999)),
        retryAfter: try object.choice("retryAfter"), seconds: try seconds())
    case .rateLimit:
      self = .rateLimit(requests: try integer("requests"), seconds: try seconds())
    case .redirect: self = .redirect(try object.required("target", object.choice("target")))
    case .wrongJSON: self = .wrongJSON
    case .truncatedJSON: self = .truncatedJSON
    case .otherEndpoint: self = .otherEndpoint
    case .receiptStatus:
      self = .receiptStatus(
        try integer("status", in: .min ... .max), isRetryable: try object.flag("isRetryable"))
    case .flippedBit: self = .flippedBit
    case .untrustedSigner: self = .untrustedSigner
    case .otherApp: self = .otherApp
    case .otherEnvironment: self = .otherEnvironment
    }
    try object.end()
  }

  /// A year, which keeps sums of instants in range.
  private static let mostSeconds = 31_536_000
}
