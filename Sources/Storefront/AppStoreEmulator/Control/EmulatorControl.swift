// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptBytes
package import ReceiptCodec

/// The control interface for tests in other processes, over HTTP. The article of the module lists the requests.
package struct EmulatorControl: Sendable {
  let store: EmulatedAppStore
  private let shutdown: @Sendable () -> Void

  package init(_ store: EmulatedAppStore, shutdown: @escaping @Sendable () -> Void = {}) {
    self.store = store
    self.shutdown = shutdown
  }

  /// Answers a request whose path begins with `/_emulator`; `nil` for any other request. Faults do not apply to such
  /// requests, and they are not counted.
  package func respond(to request: EmulatorRequest) async -> RemoteResponse? {
    guard request.path.first == "_emulator" else { return nil }
    do {
      return try await answer(request) ?? .json([:])
    } catch {
      return .json(["error": "\(error)"], status: 400)
    }
  }

  /// - Returns: `nil` if the answer is an empty object.
  private func answer(_ request: EmulatorRequest) async throws -> RemoteResponse? {
    switch (request.method, request.path.dropFirst().joined(separator: "/")) {
    case ("POST", "seed"):
      let seed = try EmulatorSeed(
        json: JSONValue(parsing: request.body), configuration: store.configuration)
      try await seed.apply(to: store)
    case ("POST", "faults"):
      let rules = try FaultScript.rules(JSONValue(parsing: request.body))
      if try Self.appends(request) {
        for rule in rules { store.faults.append(rule) }
      } else {
        store.faults.replace(with: rules)
      }
    case ("POST", "ocsp"):
      guard let responder = store.signing.responder else { throw Failure(EmulatedResponder.absence) }
      try responder.follow(JSONValue(parsing: request.body), now: store.clientClock())
    case ("POST", "receiver"): break
    case (_, "echo"): return Self.echo(request)
    case ("GET", let path) where path.hasPrefix("bytes/"):
      guard let count = Int(path.dropFirst("bytes/".count)), 0...Self.mostBytes ~= count else {
        throw Failure("The count of bytes is 0 to \(Self.mostBytes).")
      }
      return RemoteResponse(status: 200, body: [UInt8](repeating: UInt8(ascii: "x"), count: count))
    case ("GET", "statistics"): return .json(store.statistics.json)
    case ("DELETE", "statistics"): store.statistics.reset()
    case ("POST", "shutdown"): shutdown()
    default: return try await control(request)
    }
    return nil
  }

  private static let mostBytes = 64 << 20

  private static func echo(_ request: EmulatorRequest) -> RemoteResponse {
    let headers = request.headers.map { JSONMember(name: $0.name, value: .string($0.value)) }
    var seen: Set<String> = []
    return .json([
      "method": request.method, "path": request.path,
      "query": request.query.map { ["name": $0.name, "value": $0.value] as JSONMembers },
      "headers": JSONMembers(headers.filter { seen.insert($0.name).inserted }),
      "body": Base64.encodeToString(request.body),
    ])
  }

  /// Returns `true` if the query is `append=true`: the new rules are added to the existing ones.
  private static func appends(_ request: EmulatorRequest) throws(Failure) -> Bool {
    switch request.query.map({ "\($0.name)=\($0.value)" }) {
    case [], ["append=false"]: return false
    case ["append=true"]: return true
    default: throw Failure("The query of faults is append=true or append=false.")
    }
  }
}

extension JSONObject {
  /// Reads a control request. An unknown member, or one of a wrong type, is an error that names the member.
  package init(control body: [UInt8]) throws(MalformedReceipt) {
    try self.init(
      json: body, part: "control request", limits: .standard, acceptsDateStrings: true, isStrict: true)
  }
}

/// An enumeration in a control request. Only the names of its cases are accepted.
package protocol ControlChoice: JSONFieldValue, RawRepresentable<String>, CaseIterable {}

extension ControlChoice {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let name = try String(from: &json)
    guard let choice = Self(rawValue: name) else {
      let names = Self.allCases.map(\.rawValue).joined(separator: ", ")
      throw json.fieldFailure(.invalidValue, "\"\(name)\" is not one of: \(names).")
    }
    self = choice
  }

  package func write(to json: inout JSONWriter) { json.string(rawValue) }
}

/// A number exactly as it is written, such as a price.
struct PlainNumber: JSONFieldForm {
  let value: Decimal

  init(_ value: Decimal) { self.value = value }

  init(from json: inout JSONReader) throws(MalformedReceipt) {
    guard case .number(let number) = try JSONValue(from: &json), let value = Decimal(string: number.text)
    else {
      throw json.fieldFailure(.wrongType, "expected a number.")
    }
    self.value = value
  }

  func write(to json: inout JSONWriter) {
    json.value(JSONNumber(text: value.description).map { .number($0) } ?? .null)
  }
}
