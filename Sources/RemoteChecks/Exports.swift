// SPDX-License-Identifier: Apache-2.0

// A caller that makes a checker makes its transport and its URL, too: they come with this module.
@_exported public import ReceiptHTTP
