// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Creates OpenSSL stores with a single trusted certificate.
enum TrustStore {
  /// Creates a store; the caller must free it with `X509_STORE_free`.
  static func make(trusting anchor: Certificate) -> OpaquePointer? {
    guard let store = unsafe X509_STORE_new() else { return nil }
    guard unsafe X509_STORE_add_cert(store, anchor.backing.certificate) == 1 else {
      unsafe X509_STORE_free(store)
      return nil
    }
    return unsafe store
  }

  static func configure(_ parameters: OpaquePointer, at secondsSince1970: Int64?) {
    // The distribution's default may be higher and reject SHA-1 and 1024-bit RSA. The verification policy determines
    // when these are acceptable.
    unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 0)
    unsafe X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_ANY)
    // An anchor is trusted because it is pinned, even if it is not self-signed.
    unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    if let secondsSince1970 {
      unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(secondsSince1970))
    } else {
      unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_NO_CHECK_TIME))
    }
  }
}
