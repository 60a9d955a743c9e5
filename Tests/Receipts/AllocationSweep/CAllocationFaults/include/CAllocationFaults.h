// SPDX-License-Identifier: Apache-2.0
// Lets libcrypto's allocations fail, on the calling thread.
#ifndef RECEIPTKIT_CALLOCATIONFAULTS_H
#define RECEIPTKIT_CALLOCATIONFAULTS_H

/// Whether libcrypto allocates through here: this must be linked into the program, not loaded later.
int AllocationFaults_are_installed(void);

/// Starts counting anew. The allocation with this number fails, the first being 1, and where `forever` is not 0 all
/// after it; 0 lets none fail.
void AllocationFaults_begin(long number, int forever);

/// Ends it, and returns how many allocations were asked for.
long AllocationFaults_end(void);

/// The blocks that libcrypto holds, of all threads.
long AllocationFaults_live(void);

#endif
