// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// How fast the realtime URL answered, in milliseconds (Apple's PerformanceTestResponseTimes).
public struct PerformanceTestResponseTimes: Sendable, Hashable {
  /// On average (`average`).
  public var average: Int64?
  /// Half of the answers were at least as fast (`p50`).
  public var p50: Int64?
  /// 90 percent were (`p90`).
  public var p90: Int64?
  /// 95 percent were (`p95`).
  public var p95: Int64?
  /// 99 percent were (`p99`).
  public var p99: Int64?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    average: Int64? = nil, p50: Int64? = nil, p90: Int64? = nil, p95: Int64? = nil, p99: Int64? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.average = average
    self.p50 = p50
    self.p90 = p90
    self.p95 = p95
    self.p99 = p99
    self.unknownFields = unknownFields
  }
}

extension PerformanceTestResponseTimes: JSONObject {
  package enum Field: String, CaseIterable {
    case average, p50, p90, p95, p99
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .average: try coder.code(&average)
    case .p50: try coder.code(&p50)
    case .p90: try coder.code(&p90)
    case .p95: try coder.code(&p95)
    case .p99: try coder.code(&p99)
    }
  }
}

/// What a performance test found (Apple's PerformanceTestResultResponse).
public struct PerformanceTestResultResponse: Sendable, Hashable {
  /// What it did and demanded (`config`).
  public var config: PerformanceTestConfiguration?
  /// What was tested (`target`).
  public var target: String?
  /// How it went (`result`).
  public var result: PerformanceTestStatus?
  /// How many requests succeeded, in percent (`successRate`).
  public var successRate: Int64?
  /// How many requests are still pending (`numPending`).
  public var numPending: Int64?
  /// How fast the answers were (`responseTimes`).
  public var responseTimes: PerformanceTestResponseTimes?
  /// How many requests failed, and how (`failures`).
  public var failures: PerformanceTestFailures?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    config: PerformanceTestConfiguration? = nil, target: String? = nil,
    result: PerformanceTestStatus? = nil, successRate: Int64? = nil, numPending: Int64? = nil,
    responseTimes: PerformanceTestResponseTimes? = nil, failures: PerformanceTestFailures? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.config = config
    self.target = target
    self.result = result
    self.successRate = successRate
    self.numPending = numPending
    self.responseTimes = responseTimes
    self.failures = failures
    self.unknownFields = unknownFields
  }
}

extension PerformanceTestResultResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case config, target, result, successRate, numPending, responseTimes, failures
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .config: try coder.code(&config)
    case .target: try coder.code(&target)
    case .result: try coder.code(&result)
    case .successRate: try coder.code(&successRate)
    case .numPending: try coder.code(&numPending)
    case .responseTimes: try coder.code(&responseTimes)
    case .failures: try coder.code(&failures)
    }
  }
}
