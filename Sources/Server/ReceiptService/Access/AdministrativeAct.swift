// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec

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

  extension ReceiptAPI {
    var actRoutes: [Route] {
      [
        Route(
          method: .get, path: "/v1/administrative-acts", operation: "listAdministrativeActs",
          access: .key(.admin),
          summary: "What administrators did, newest first. For keys that are not confined to an app.",
          parameters: [
            .query(
              "before", .integer(0...Int64.max), "Only acts with a smaller sequence, for the next page."),
            Self.limitParameter,
          ],
          answers: [
            (200, "The acts.", [.init(mediaType: "application/json", schema: "administrative-acts")])
          ],
          respond: { [unowned self] request, context in
            guard context.principal?.app == nil else { throw Problem.notFound }
            let before = try integerParameter("before", of: request, 0...Int64.max, default: .max)
            let limit = Int(try integerParameter("limit", of: request, 1...1000, default: 100))
            let acts = try await database.read { session in
              try AdministrativeAct.newest(limit, before: before, in: session)
            }
            var object = JSONWriter(type: "administrative-acts")
            object.name("acts")
            object.beginArray()
            for act in acts {
              object.beginObject()
              object.member("sequence", act.sequence)
              object.member("time", Timestamp(milliseconds: act.time))
              object.member("actor", act.actor)
              object.member("act", act.act)
              object.member("details", act.details)
              object.endObject()
            }
            object.endArray()
            object.endObject()
            return .json(object)
          })
      ]
    }
  }
#endif
