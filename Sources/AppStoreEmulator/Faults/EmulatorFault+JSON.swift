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

    /// The names of its members, besides `kind`.
    var members: [String] {
      switch self {
      case .delay: ["milliseconds"]
      case .cut, .reset: ["afterBytes"]
      case .contentLength: ["off"]
      case .status: ["status", "retryAfter", "seconds"]
      case .error: ["errorCode", "retryAfter", "seconds"]
      case .rateLimit: ["requests", "seconds"]
      case .redirect: ["target"]
      case .receiptStatus: ["status", "isRetryable"]
      default: []
      }
    }
  }

  /// Reads `{"kind": "cut", "afterBytes": 12}`; the other members have the names of the parameters.
  init(json: JSONValue, at place: String) throws(EmulatorControl.Failure) {
    let every = Kind.allCases.flatMap(\.members)
    let kind = try ControlMembers(json, at: place, ["kind"] + every).required("kind", of: Kind.self)
    let members = try ControlMembers(json, at: place, ["kind"] + kind.members)
    func integer(_ name: String, in range: ClosedRange<Int> = 0 ... .max) throws(EmulatorControl.Failure)
      -> Int
    {
      try members.required(name) { name throws(EmulatorControl.Failure) in
        try members.integer(name, in: range)
      }
    }
    func seconds() throws(EmulatorControl.Failure) -> Int {
      try members.integer("seconds", in: 0...Self.mostSeconds) ?? 1
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
        try integer("status", in: 200...599), retryAfter: try members.choice("retryAfter"),
        seconds: try seconds())
    case .error:
      self = .error(
        code: Int64(try integer("errorCode", in: 2_000_000...5_999_999)),
        retryAfter: try members.choice("retryAfter"), seconds: try seconds())
    case .rateLimit: self = .rateLimit(requests: try integer("requests"), seconds: try seconds())
    case .redirect: self = .redirect(try members.required("target", of: RedirectTarget.self))
    case .wrongJSON: self = .wrongJSON
    case .truncatedJSON: self = .truncatedJSON
    case .otherEndpoint: self = .otherEndpoint
    case .receiptStatus:
      self = .receiptStatus(
        try integer("status", in: .min ... .max), isRetryable: try members.flag("isRetryable"))
    case .flippedBit: self = .flippedBit
    case .untrustedSigner: self = .untrustedSigner
    case .otherApp: self = .otherApp
    case .otherEnvironment: self = .otherEnvironment
    }
  }

  /// A year, which keeps sums of instants in range.
  private static let mostSeconds = 31_536_000
}
