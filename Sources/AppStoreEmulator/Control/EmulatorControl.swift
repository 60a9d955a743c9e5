// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptHTTP

/// The control interface for tests in other processes, over HTTP:
///
/// | Request | Does |
/// |---|---|
/// | `POST /_emulator/seed` | adds the JSON body to the state, see ``EmulatorSeed`` |
/// | `POST /_emulator/faults` | replaces the fault script by the rules in a JSON list |
/// | `POST /_emulator/faults?append=true` | appends the rules |
/// | `POST /_emulator/ocsp` | changes the answers of the OCSP responder: `{"revoke": "leaf"}`, `{"flaw": "stale"}` |
/// | `POST /_emulator/receiver` | answers 200: a notification URL for a store without another |
/// | any method, `/_emulator/echo` | answers with method, headers and body of the request, as JSON |
/// | `GET /_emulator/bytes/COUNT` | answers with this number of bytes |
/// | `GET /_emulator/statistics` | counts of requests, tokens and connections |
/// | `DELETE /_emulator/statistics` | resets the counts |
/// | `POST /_emulator/shutdown` | ends the process |
///
/// A rule: `{"faults": [{"kind": "cut", "afterBytes": 12}], "requests": 3, "probability": 0.5, "seed": 7, "path":
/// "/inApps/", "target": "/inApps/v1/lookup/1?x=y"}`. Only `faults` is required. Without `requests` the rule applies to all
/// requests. A member that is not known, or of a wrong type, is an error with status 400 that names it, and changes
/// nothing.
///
/// The article of the module lists the requests that control purchases.
public struct EmulatorControl: Sendable {
  /// An error in a control request.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public let description: String

    package init(_ description: String) { self.description = description }
  }

  private let store: EmulatedAppStore
  private let shutdown: @Sendable () -> Void

  /// Controls a store; `shutdown` ends the server.
  public init(_ store: EmulatedAppStore, shutdown: @escaping @Sendable () -> Void = {}) {
    self.store = store
    self.shutdown = shutdown
  }

  /// The answer to a request whose path begins with `/_emulator`; `nil` for others. Such requests have no faults and
  /// are not counted.
  public func respond(to request: EmulatorRequest) async -> EmulatorResponse? {
    guard request.path.first == "_emulator" else { return nil }
    do throws(Failure) {
      switch (request.method, request.path.dropFirst().joined(separator: "/")) {
      case ("POST", "seed"):
        let seed = try EmulatorSeed(json: Self.json(request), configuration: store.configuration)
        try await seed.apply(to: store)
        return .json(.object([]))
      case ("POST", "faults"):
        let rules = try Self.rules(Self.json(request))
        if try Self.appends(request) {
          for rule in rules { store.faults.append(rule) }
        } else {
          store.faults.replace(with: rules)
        }
        return .json(.object([]))
      case ("POST", "ocsp"):
        guard let responder = store.signing.responder else {
          throw Failure(EmulatedResponder.absence)
        }
        try responder.follow(Self.json(request), now: store.clientClock())
        return .json(.object([]))
      case ("POST", "receiver"): return .json(.object([]))
      case (_, "echo"): return Self.echo(request)
      case ("GET", let path) where path.hasPrefix("bytes/"):
        guard let count = Int(path.dropFirst("bytes/".count)), 0...Self.mostBytes ~= count else {
          throw Failure("The count of bytes is 0 to \(Self.mostBytes).")
        }
        return EmulatorResponse(status: 200, body: [UInt8](repeating: UInt8(ascii: "x"), count: count))
      case ("GET", "statistics"): return .json(store.statistics.json)
      case ("DELETE", "statistics"):
        store.statistics.reset()
        return .json(.object([]))
      case ("POST", "shutdown"):
        shutdown()
        return .json(.object([]))
      default: return try await PurchaseControl(store).respond(to: request)
      }
    } catch {
      return .json(.members(("error", .string(error.description))), status: 400)
    }
  }

  private static let mostBytes = 64 << 20

  private static func echo(_ request: EmulatorRequest) -> EmulatorResponse {
    let headers = request.headers.map { JSONMember(name: $0.name, value: .string($0.value)) }
    var seen: Set<String> = []
    return .json(
      .members(
        ("method", .string(request.method)), ("path", .strings(request.path)),
        (
          "query",
          .array(request.query.map { .members(("name", .string($0.name)), ("value", .string($0.value))) })
        ), ("headers", .object(headers.filter { seen.insert($0.name).inserted })),
        ("body", .string(Base64.encodeToString(request.body)))))
  }

  private static func json(_ request: EmulatorRequest) throws(Failure) -> JSONValue {
    do throws(MalformedReceipt) {
      return try JSONValue(parsing: request.body)
    } catch {
      throw Failure(error.description)
    }
  }

  private static func rules(_ json: JSONValue) throws(Failure) -> [FaultScript.Rule] {
    guard let list = json.array else { throw Failure("Faults are a list of rules.") }
    var rules: [FaultScript.Rule] = []
    for (index, rule) in list.enumerated() { rules.append(try Self.rule(rule, at: "[\(index)]")) }
    return rules
  }

  private static func rule(_ json: JSONValue, at place: String) throws(Failure) -> FaultScript.Rule {
    let members = try ControlMembers(
      json, at: place, ["faults", "requests", "probability", "seed", "path", "target"])
    var faults: [EmulatorFault] = []
    for (index, fault) in try members.required("faults", members.list).enumerated() {
      faults.append(try EmulatorFault(json: fault, at: members.path("faults[\(index)]")))
    }
    guard !faults.isEmpty else { throw Failure("\"\(members.path("faults"))\" is empty.") }
    return FaultScript.Rule(
      faults, requests: try members.integer("requests", in: 1 ... .max),
      probability: try members.number("probability", in: 0...1),
      seed: try members.integer("seed").map { UInt64(bitPattern: $0) } ?? 1,
      path: try members.absolutePath("path"), target: try members.absolutePath("target"))
  }

  /// Whether `?append=true` asks to keep the rules that are there.
  private static func appends(_ request: EmulatorRequest) throws(Failure) -> Bool {
    switch request.query.map({ "\($0.name)=\($0.value)" }) {
    case [], ["append=false"]: return false
    case ["append=true"]: return true
    default: throw Failure("The query of faults is append=true or append=false.")
    }
  }
}
