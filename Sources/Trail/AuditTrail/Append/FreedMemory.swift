// SPDX-License-Identifier: Apache-2.0

internal import CMalloc

/// Memory that was freed but that the allocator still holds.
package enum FreedMemory {
  /// Returns the memory to the system, if the allocator supports that.
  ///
  /// Call it after work that needed much memory for a short time: that memory otherwise stays fragmented.
  static func release() { CMalloc_giveBack() }

  /// Makes all threads share the allocator's arenas, instead of each using its own.
  ///
  /// This is for a process that only appends; call it before the process begins. The process decides this and not the
  /// trail, since it may slow down other threads that allocate much at the same time. It has the effect of
  /// `MALLOC_ARENA_MAX=2` in the environment.
  package static func shareAmongThreads() { CMalloc_shareArenas() }
}
