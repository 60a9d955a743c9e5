// SPDX-License-Identifier: Apache-2.0

// A caller of the App Store makes the transport and its URL, too: they come with this module.
@_exported public import ReceiptHTTP
