// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// The witnesses of a trail, which cosign its checkpoints, and the way to reach them (C2SP tlog-witness).
///
/// A witness cosigns a checkpoint only if it continues the last one that it saw. So nobody can show two histories to
/// different people unless enough witnesses cooperate.
public struct Witnesses: Sendable {
  /// The witnesses with their keys and URLs, without the trail's own key, and the number of them that are needed.
  package let policy: WitnessPolicy
  package let transport: any WitnessTransport
  /// The time that all witnesses together have to answer; 10 seconds by default.
  package var timeout: Duration
  /// The time to wait for the other witnesses once the quorum is met; a tenth of a second by default.
  public var gracePeriod: Duration = .milliseconds(100)

  /// The maximum length of an answer that is read, in bytes; a hundred signature lines fit.
  package static let maximumResponseByteCount = WitnessConversation.maximumResponseByteCount

  /// Creates the witnesses of a trail.
  public init(policy: WitnessPolicy, transport: any WitnessTransport, timeout: Duration = .seconds(10)) {
    self.policy = policy
    self.transport = transport
    self.timeout = timeout
  }

  /// `true` if a cosignature is needed, and enough witnesses have a URL to give it.
  var canMakeQuorum: Bool {
    policy.quorum != nil && policy.isSatisfied(by: policy.witnesses.filter { $0.url != nil }.map(\.key))
  }
}
