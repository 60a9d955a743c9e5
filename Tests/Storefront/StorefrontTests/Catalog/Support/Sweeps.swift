// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The choice between sampled and full sweeps. Full ones (`RECEIPTKIT_FULL_SWEEPS=1`) take long.
enum Sweeps {
  static var areFull: Bool { ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] == "1" }
}
