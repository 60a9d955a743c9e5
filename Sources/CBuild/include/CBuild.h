// SPDX-License-Identifier: Apache-2.0

// What the build was told about itself. In C, because Swift's compilation conditions have no values.

#ifndef CBUILD_H
#define CBUILD_H

// The commit that was built; empty where the build was not told (RECEIPTKIT_COMMIT in Package.swift).
const char *CBuild_commit(void);

#endif
