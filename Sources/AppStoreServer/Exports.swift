// SPDX-License-Identifier: Apache-2.0

// Whoever calls the App Store makes its transport and its URL, too: they come with this module.
@_exported public import ReceiptHTTP
