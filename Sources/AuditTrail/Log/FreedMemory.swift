// SPDX-License-Identifier: Apache-2.0

internal import CMalloc

/// Memory that was freed, but that the allocator still holds.
package enum FreedMemory {
  /// Returns it to the system, where the allocator supports that. Worthwhile after work that took much memory for a
  /// moment, which otherwise stays fragmented.
  static func release() { CMalloc_giveBack() }

  /// Has all threads take from the same places what others freed, instead of each from its own: for a process that does
  /// nothing but append, to be called before it begins. It is the process's choice and not the trail's, since it may
  /// slow down others that allocate much at the same time. The same as `MALLOC_ARENA_MAX=2` in the environment.
  package static func shareAmongThreads() { CMalloc_shareArenas() }
}
