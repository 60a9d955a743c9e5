// SPDX-License-Identifier: Apache-2.0

#if THREAD_SANITIZER
  internal import ThreadSanitizing

  typealias Mutex = SanitizedMutex
#endif
