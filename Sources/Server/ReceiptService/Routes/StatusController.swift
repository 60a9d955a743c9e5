// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird
  internal import ReceiptCodec
  internal import Synchronization

  /// Answers probes, and the description of the API.
  struct StatusController {
    let writeProbe: WriteProbe
    let shutdown: ShutdownState
    /// The server's own address; `nil` for the address that the description was requested from.
    let url: String?

    var routes: [Route] {
      [
        .getHealth { _, _ in Response.text("ok\n") },
        .getDescription { _, _ in Response.json(OpenAPIDescription.object(servedAt: url)) },
        .getReadiness { _, _ in
          guard !shutdown.hasBegun else { throw Problem.unavailable("The service is shutting down.") }
          if let failure = await writeProbe.failure() { throw Problem.unavailable(failure) }
          return Response.text("ready\n")
        },
      ]
    }
  }

  extension OpenAPIDescription {
    /// The description, with the server's own address.
    static func object(servedAt url: String?) -> JSONWriter {
      let members = ((try? JSONValue(parsing: Array(json.utf8)))?.object ?? []).map { member in
        guard member.name == "servers", let url else { return member }
        return JSONMember(
          name: "servers", value: .array([.object([JSONMember(name: "url", value: .string(url))])]))
      }
      var object = JSONWriter()
      object.value(.object(members))
      return object
    }
  }

  /// The shutdown of a server, before which load balancers should send their requests elsewhere.
  final class ShutdownState: Sendable {
    private let flag = Atomic<Bool>(false)

    var hasBegun: Bool { flag.load(ordering: .relaxed) }

    func begin() { flag.store(true, ordering: .relaxed) }
  }
#endif
