// SPDX-License-Identifier: Apache-2.0

internal import CMalloc

/// Memory that was freed, but that the allocator still holds.
enum FreedMemory {
  /// Gives it back to the system, where the allocator can be asked to. It is worth its while after work that took much
  /// memory for a moment, which else lies about in pieces.
  static func giveBack() { CMalloc_giveBack() }
}
