// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// What the machine has to compute with.
enum SystemProcessors {
  /// Processors that may be used at once.
  static let count = max(1, ProcessInfo.processInfo.activeProcessorCount)
}
