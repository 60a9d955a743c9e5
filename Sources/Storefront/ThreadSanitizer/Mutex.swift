// SPDX-License-Identifier: Apache-2.0

#if THREAD_SANITIZER
  internal import ReceiptCrypto

  typealias Mutex = SanitizedMutex
#endif
