// SPDX-License-Identifier: Apache-2.0

// What the build was told about itself. In C, because Swift's compilation conditions have no values.

#ifndef CBUILD_H
#define CBUILD_H

#include <stdbool.h>

// The commit that was built; empty where the build was not told (RECEIPTKIT_COMMIT in Package.swift).
const char *CBuild_commit(void);

// Whether scripts/quickstart built it: without optimizing what Package.swift lists.
bool CBuild_is_quickstart(void);

#endif
