// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Why a server has no answer of its store: the body of every status but 200.
struct StoreProblem: JSONObject, Sendable, Hashable {
  /// A stable code.
  var code = ""
  /// What happened and what to do.
  var message = ""
  /// The JSON path of the fault in the request.
  var place: String?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case code, message, place }
  static let fieldNames = JSONFieldNames<Field>(required: [.code, .message])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .code: try coder.code(&code)
    case .message: try coder.code(&message)
    case .place: try coder.code(&place)
    }
  }
}

extension StoreProblem {
  /// The problems that our server reports.
  enum Kind: String, Sendable, CaseIterable {
    case malformedRequest = "malformed-request"
    case unauthorized
    case notFound = "not-found"
    case methodNotAllowed = "method-not-allowed"
    case requestTooLarge = "request-too-large"
    case unsupportedMediaType = "unsupported-media-type"
    case unavailable

    /// The status (RFC 9110 section 15).
    var status: Int {
      switch self {
      case .malformedRequest: 400
      case .unauthorized: 401
      case .notFound: 404
      case .methodNotAllowed: 405
      case .requestTooLarge: 413
      case .unsupportedMediaType: 415
      case .unavailable: 503
      }
    }
  }

  init(_ kind: Kind, _ message: String, place: String? = nil) {
    code = kind.rawValue
    self.message = message
    self.place = place
  }
}
