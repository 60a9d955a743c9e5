// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptCodec

  /// Lists the recorded actions of administrators.
  struct AdministrativeActController: Controller {
    let database: any ServiceDatabase

    var routes: [Route] {
      [
        Route(
          method: .get, path: "/v1/administrative-acts", operation: "listAdministrativeActs",
          summary: "What administrators did, newest first. For keys that are not confined to an app.",
          parameters: [
            .query(
              "before", .integer(0...Int64.max), "Only acts with a smaller sequence, for the next page."),
            .limit,
          ],
          answers: [(200, "The acts.", Route.Content.json("administrative-acts"))],
          respond: .key(.admin, list))
      ]
    }

    private func list(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      try call.principal.require(app: nil)
      let before = try call.request.integerParameter("before", 0...Int64.max, default: .max)
      let limit = Int(try call.request.integerParameter("limit", 1...1000, default: 100))
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
    }
  }
#endif
