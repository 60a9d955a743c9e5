// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptBytes

  /// A recorded action of an administrator.
  package struct AdministrativeAct: Sendable, Hashable {
    /// The number of the action, which increases with each.
    package let sequence: Int64
    /// The time, in milliseconds since 1970.
    package let time: Int64
    /// The identifier of the key that was used, or `command line`.
    package let actor: String
    package let act: String
    package let details: String

    package static func record(
      _ act: String, _ details: String, by actor: String, at time: Int64, in session: any DatabaseSession
    ) throws {
      try session.run(
        "INSERT INTO administrative_acts(time, actor, act, details) VALUES ($1, $2, $3, $4)",
        .integer(time), .text(actor), .text(act), .text(ShownText.plain(details, limit: 1000)))
    }

    /// The latest actions, latest first.
    package static func newest(
      _ limit: Int, before sequence: Int64 = .max, in session: any DatabaseSession
    ) throws -> [AdministrativeAct] {
      try session.run(
        """
        SELECT sequence, time, actor, act, details FROM administrative_acts WHERE sequence < $1
        ORDER BY sequence DESC LIMIT $2
        """, .integer(sequence), .integer(Int64(limit))
      ).map {
        AdministrativeAct(
          sequence: $0.integer(0), time: $0.integer(1), actor: $0.text(2), act: $0.text(3),
          details: $0.text(4))
      }
    }
  }
#endif
