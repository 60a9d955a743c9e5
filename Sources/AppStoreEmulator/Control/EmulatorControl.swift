// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// What tests in other processes tell the emulator, over HTTP:
///
/// | Request | Does |
/// |---|---|
/// | `POST /_emulator/seed` | adds what its JSON says to the state, ``EmulatorSeed`` |
/// | `POST /_emulator/faults` | replaces the fault script by the rules in a JSON list |
/// | `GET /_emulator/statistics` | counts of requests, tokens and connections |
/// | `DELETE /_emulator/statistics` | counts from zero |
/// | `POST /_emulator/shutdown` | ends the process |
///
/// A rule: `{"faults": [{"kind": "cut", "afterBytes": 12}], "requests": 3, "probability": 0.5, "seed": 7,
/// "path": "/inApps/"}`, of which only `faults` must be there; without `requests` it holds for ever.
public struct EmulatorControl: Sendable {
  /// Why the emulator does not understand what it is told.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public let description: String

    init(_ description: String) { self.description = description }
  }

  private let store: EmulatedAppStore
  private let shutdown: @Sendable () -> Void

  /// Controls a store; `shutdown` ends whatever serves it.
  public init(_ store: EmulatedAppStore, shutdown: @escaping @Sendable () -> Void = {}) {
    self.store = store
    self.shutdown = shutdown
  }

  /// The answer to a request whose path begins with `/_emulator`; `nil` for others. Neither faults nor
  /// statistics apply to it.
  public func respond(to request: EmulatorRequest) -> EmulatorResponse? {
    guard request.path.first == "_emulator" else { return nil }
    do throws(Failure) {
      switch (request.method, request.path.dropFirst().joined(separator: "/")) {
      case ("POST", "seed"):
        let seed = try EmulatorSeed(json: Self.json(request), configuration: store.configuration)
        store.state.withState { seed.apply(to: &$0) }
        return .json(.object([]))
      case ("POST", "faults"):
        store.faults.replace(with: try Self.rules(Self.json(request)))
        return .json(.object([]))
      case ("GET", "statistics"): return .json(store.statistics.json)
      case ("DELETE", "statistics"):
        store.statistics.reset()
        return .json(.object([]))
      case ("POST", "shutdown"):
        shutdown()
        return .json(.object([]))
      default: throw Failure("There is no such control.")
      }
    } catch {
      return .json(.members(("error", .string(error.description))), status: 400)
    }
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
    for rule in list {
      guard let faults = rule["faults"]?.array, !faults.isEmpty else {
        throw Failure("A rule has a list of faults.")
      }
      var decoded: [EmulatorFault] = []
      for fault in faults { decoded.append(try EmulatorFault(json: fault)) }
      var probability: Double?
      if case .number(let number)? = rule["probability"] { probability = number.double }
      rules.append(
        FaultScript.Rule(
          decoded, requests: rule["requests"]?.int64.map { Int(clamping: $0) }, probability: probability,
          seed: rule["seed"]?.int64.map { UInt64(bitPattern: $0) } ?? 1, path: rule["path"]?.string))
    }
    return rules
  }
}
