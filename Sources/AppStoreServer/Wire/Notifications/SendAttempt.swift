// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What came of an attempt to deliver a notification, or of a request of a performance test
/// (`sendAttemptResult`).
public struct SendAttemptResult: RawRepresentable, Sendable, Hashable {
  /// The spelling on the wire.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `SUCCESS`: delivered.
  public static let success = SendAttemptResult(rawValue: "SUCCESS")
  /// `TIMED_OUT`: the server did not answer in time.
  public static let timedOut = SendAttemptResult(rawValue: "TIMED_OUT")
  /// `TLS_ISSUE`: TLS could not be agreed on, or the certificate is not trusted.
  public static let tlsIssue = SendAttemptResult(rawValue: "TLS_ISSUE")
  /// `CIRCULAR_REDIRECT`: redirects led in a circle.
  public static let circularRedirect = SendAttemptResult(rawValue: "CIRCULAR_REDIRECT")
  /// `NO_RESPONSE`: no answer came.
  public static let noResponse = SendAttemptResult(rawValue: "NO_RESPONSE")
  /// `SOCKET_ISSUE`: the connection failed.
  public static let socketIssue = SendAttemptResult(rawValue: "SOCKET_ISSUE")
  /// `UNSUPPORTED_CHARSET`: the answer has a character set that is not supported.
  public static let unsupportedCharset = SendAttemptResult(rawValue: "UNSUPPORTED_CHARSET")
  /// `INVALID_RESPONSE`: the answer is not valid.
  public static let invalidResponse = SendAttemptResult(rawValue: "INVALID_RESPONSE")
  /// `PREMATURE_CLOSE`: the server closed the connection too early.
  public static let prematureClose = SendAttemptResult(rawValue: "PREMATURE_CLOSE")
  /// `UNSUCCESSFUL_HTTP_RESPONSE_CODE`: the status code was not one of 200 to 206.
  public static let unsuccessfulHTTPResponseCode = SendAttemptResult(
    rawValue: "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
  /// `OTHER`: some other failure.
  public static let other = SendAttemptResult(rawValue: "OTHER")
}

extension SendAttemptResult: JSONEnumeration {}

/// An attempt to deliver a notification (Apple's SendAttemptItem).
public struct SendAttempt: Sendable, Hashable {
  /// When it was made (`attemptDate`).
  public var attemptDate: Timestamp?
  /// What came of it (`sendAttemptResult`).
  public var sendAttemptResult: SendAttemptResult?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    attemptDate: Timestamp? = nil, sendAttemptResult: SendAttemptResult? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.attemptDate = attemptDate
    self.sendAttemptResult = sendAttemptResult
    self.unknownFields = unknownFields
  }
}

extension SendAttempt: JSONObject {
  package enum Field: String, CaseIterable {
    case attemptDate, sendAttemptResult
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .attemptDate: try coder.code(&attemptDate)
    case .sendAttemptResult: try coder.code(&sendAttemptResult)
    }
  }
}
