// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The library underneath.
package enum Libcrypto {
  /// Its version at run time, for example `3.0.19`.
  package static var version: String {
    unsafe OpenSSL_version(OPENSSL_VERSION_STRING).map { unsafe String(cString: $0) } ?? "unknown"
  }
}
