// SPDX-License-Identifier: Apache-2.0

module receiptkit.dev/go/receiptkit

go 1.19
