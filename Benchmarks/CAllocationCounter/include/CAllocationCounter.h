// SPDX-License-Identifier: Apache-2.0
// Counts the allocations of the process it is linked into, for the benchmark.
#ifndef RECEIPTKIT_ALLOCATION_COUNTER_H
#define RECEIPTKIT_ALLOCATION_COUNTER_H

/// How often this thread has asked for memory so far.
unsigned long AllocationCounter_count(void);

#endif
