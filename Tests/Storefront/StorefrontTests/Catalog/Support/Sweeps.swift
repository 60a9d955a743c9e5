// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Whether sweeps go over everything (`RECEIPTKIT_FULL_SWEEPS=1`), which takes long.
enum Sweeps {
  static var areFull: Bool { ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] == "1" }
}
