// SPDX-License-Identifier: Apache-2.0

/// Measures the store and what is before it.
///
/// usage: store-bench simulate SUBSCRIPTIONS SEED     a year of a store with so many subscriptions
@main
enum StoreBench {
  static func main() async throws {
    let arguments = CommandLine.arguments
    switch (arguments.count, arguments.dropFirst().first) {
    case (4, "simulate"):
      try SimulationMeasurement.run(
        subscriptions: Int(arguments[2]) ?? 10_000, seed: UInt64(arguments[3]) ?? 1)
    default: throw Failure("usage: store-bench simulate SUBSCRIPTIONS SEED")
    }
  }
}
