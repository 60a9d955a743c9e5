// SPDX-License-Identifier: Apache-2.0

#ifndef CMALLOC_H
#define CMALLOC_H

/// Gives memory that was freed back to the system, where the C library can be asked to (glibc).
void CMalloc_giveBack(void);

/// Has threads share two arenas of the allocator, where the C library has such (glibc), instead of having one each.
void CMalloc_shareArenas(void);

#endif
