// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// How a performance test went (`result`).
public struct PerformanceTestStatus: RawRepresentable, Sendable, Hashable {
  /// The spelling on the wire.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `PENDING`: still running.
  public static let pending = PerformanceTestStatus(rawValue: "PENDING")
  /// `PASS`: passed.
  public static let pass = PerformanceTestStatus(rawValue: "PASS")
  /// `FAIL`: failed.
  public static let fail = PerformanceTestStatus(rawValue: "FAIL")
}

extension PerformanceTestStatus: JSONEnumeration {}

/// Starts a performance test of the realtime URL, in the sandbox (Apple's PerformanceTestRequest).
public struct PerformanceTestRequest: Sendable, Hashable {
  /// A sandbox subscription to test with, by its first transaction (`originalTransactionId`).
  public var originalTransactionId: String
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    originalTransactionId: String, unknownFields: [JSONMember] = []
  ) {
    self.originalTransactionId = originalTransactionId
    self.unknownFields = unknownFields
  }
}

extension PerformanceTestRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case originalTransactionId
  }

  package static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  /// Filled before anyone sees it.
  package init() {
    self.init(originalTransactionId: "")
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .originalTransactionId: try coder.code(&originalTransactionId)
    }
  }
}

/// What a performance test does and demands (Apple's PerformanceTestConfig).
public struct PerformanceTestConfiguration: Sendable, Hashable {
  /// How many requests run at once (`maxConcurrentRequests`).
  public var maxConcurrentRequests: Int64?
  /// How many there are (`totalRequests`).
  public var totalRequests: Int64?
  /// How long the test takes, in milliseconds (`totalDuration`).
  public var totalDuration: Int64?
  /// The longest response time that counts as success, in milliseconds (`responseTimeThreshold`).
  public var responseTimeThreshold: Int64?
  /// The success rate that is needed, in percent (`successRateThreshold`).
  public var successRateThreshold: Int64?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    maxConcurrentRequests: Int64? = nil, totalRequests: Int64? = nil, totalDuration: Int64? = nil,
    responseTimeThreshold: Int64? = nil, successRateThreshold: Int64? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.maxConcurrentRequests = maxConcurrentRequests
    self.totalRequests = totalRequests
    self.totalDuration = totalDuration
    self.responseTimeThreshold = responseTimeThreshold
    self.successRateThreshold = successRateThreshold
    self.unknownFields = unknownFields
  }
}

extension PerformanceTestConfiguration: JSONObject {
  package enum Field: String, CaseIterable {
    case maxConcurrentRequests, totalRequests, totalDuration, responseTimeThreshold, successRateThreshold
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .maxConcurrentRequests: try coder.code(&maxConcurrentRequests)
    case .totalRequests: try coder.code(&totalRequests)
    case .totalDuration: try coder.code(&totalDuration)
    case .responseTimeThreshold: try coder.code(&responseTimeThreshold)
    case .successRateThreshold: try coder.code(&successRateThreshold)
    }
  }
}

/// That a performance test began (Apple's PerformanceTestResponse).
public struct PerformanceTestResponse: Sendable, Hashable {
  /// What it does and demands (`config`).
  public var config: PerformanceTestConfiguration?
  /// Names the test when asking for its result (`requestId`).
  public var requestId: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    config: PerformanceTestConfiguration? = nil, requestId: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.config = config
    self.requestId = requestId
    self.unknownFields = unknownFields
  }
}

extension PerformanceTestResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case config, requestId
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .config: try coder.code(&config)
    case .requestId: try coder.code(&requestId)
    }
  }
}
