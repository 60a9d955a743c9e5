/* SPDX-License-Identifier: Apache-2.0 */

#ifndef RECEIPTKIT_PROCESS_H
#define RECEIPTKIT_PROCESS_H

#include <stddef.h>

/* What a library in a foreign process needs of POSIX. Not a part of the interface: the symbols are hidden. */

/*
 * Begins and ends work that no fork may interrupt. Locks of the library, of libcrypto and of the Swift runtime that another
 * thread held would stay locked in the child. Calls may not be nested.
 */
void receiptkit_work_begin(void);
void receiptkit_work_end(void);

/*
 * Calls `work` on `count` threads, the calling one among them, and returns when all have returned. If no more threads can be
 * created, fewer do the work. The created ones receive no signals: these belong to the process.
 */
void receiptkit_on_threads(size_t count, void (*work)(void *), void *context);

#endif
