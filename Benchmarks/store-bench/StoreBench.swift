// SPDX-License-Identifier: Apache-2.0

import Measuring

/// Measures the store and what is before it.
///
/// usage: store-bench simulate SUBSCRIPTIONS SEED [fold]
///                                                    a year of a store with so many subscriptions; `fold` has their
///                                                    notifications verified and folded in random orders afterwards
///        store-bench queue DIRECTORY TRANSACTIONS    a payment queue with so many unfinished transactions
///        store-bench fill DIRECTORY TRANSACTIONS     a store in a folder with so many transactions
///        store-bench serve DIRECTORY TRANSACTIONS    opens it, and has its server answer
///        store-bench sales DIRECTORY PAYMENTS CUSTOMERS
///                                                    payments from queue to store and back, in files
///        store-bench work DIRECTORY                  buys until it is killed, for the crash test; `shop` with a
///                                                    store in a file; see ``Worker``
@main
enum StoreBench {
  static func main() async throws {
    let arguments = CommandLine.arguments
    switch (arguments.count, arguments.dropFirst().first) {
    case (4, "simulate"),
      (5, "simulate") where arguments.count == 4 || arguments[4] == "fold":
      try SimulationMeasurement.run(
        subscriptions: Int(arguments[2]) ?? 10_000, seed: UInt64(arguments[3]) ?? 1,
        folds: arguments.count == 5)
    case (4, "queue"):
      try await QueueMeasurement.run(directory: arguments[2], count: Int(arguments[3]) ?? 100_000)
    case (4, "fill"):
      try await StoreMeasurement.fill(directory: arguments[2], count: Int(arguments[3]) ?? 1_000_000)
    case (4, "serve"):
      try await StoreMeasurement.serve(directory: arguments[2], count: Int(arguments[3]) ?? 1_000_000)
    case (5, "sales"):
      try await SaleMeasurement.run(
        directory: arguments[2], count: Int(arguments[3]) ?? 10_000, customers: Int(arguments[4]) ?? 1)
    case (3, "shop"): try await Worker.shop(directory: arguments[2])
    case (3, "work"): try await Worker.run(directory: arguments[2])
    default:
      throw Failure(
        "usage: store-bench simulate SUBSCRIPTIONS SEED [fold] | queue DIRECTORY TRANSACTIONS | "
          + "fill DIRECTORY TRANSACTIONS | serve DIRECTORY TRANSACTIONS | sales DIRECTORY PAYMENTS CUSTOMERS"
      )
    }
  }
}
