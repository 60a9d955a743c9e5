// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// The witnesses of a trail: who cosigns its checkpoints, and how they are reached (C2SP tlog-witness).
///
/// A witness cosigns only what continues the last checkpoint that it saw, so nobody can show two histories to
/// different people unless enough witnesses help.
public struct Witnesses: Sendable {
  /// Who they are, by which keys and under which URLs, and how many are needed. The trail's own key need not be
  /// listed.
  public let policy: WitnessPolicy
  /// Sends the requests.
  public let transport: any WitnessTransport
  /// The time in which all of them together have to answer; 10 seconds by default.
  public var timeout: Duration
  /// The wait for the others once the quorum is met; a tenth of a second by default.
  public var gracePeriod: Duration = .milliseconds(100)

  /// The longest answer that is read, in bytes: a hundred signature lines fit in.
  public static let maximumResponseByteCount = WitnessConversation.maximumResponseByteCount

  /// Describes them.
  public init(
    policy: WitnessPolicy, transport: any WitnessTransport, timeout: Duration = .seconds(10)
  ) {
    self.policy = policy
    self.transport = transport
    self.timeout = timeout
  }

  /// Indicates whether any cosignature is needed, and enough witnesses have a URL to give them.
  var canMakeQuorum: Bool {
    policy.quorum != nil && policy.isSatisfied(by: policy.witnesses.filter { $0.url != nil }.map(\.key))
  }
}
