// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec

  extension AdministrativeAct {
    /// Records an action by a key, or by `command line`, at a time in milliseconds.
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
          sequence: $0.integer(0), time: Timestamp(milliseconds: $0.integer(1)), actor: $0.text(2),
          act: $0.text(3), details: $0.text(4))
      }
    }
  }

  struct AdministrativeActController: Controller {
    let database: any ServiceDatabase

    var routes: [Route] { [.listAdministrativeActs(list)] }

    private func list(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> AdministrativeActs {
      try call.principal.require(app: nil)
      let before = try call.request.integerParameter("before", 0...Int64.max, default: .max)
      let limit = try call.request.limit
      return AdministrativeActs(
        acts: try await database.read { try AdministrativeAct.newest(limit, before: before, in: $0) })
    }
  }
#endif
