// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptVerification

enum SystemTime {
  static func now() -> Timestamp { SystemClock.now() }
}
