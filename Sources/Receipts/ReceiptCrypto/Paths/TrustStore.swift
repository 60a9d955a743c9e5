// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// OpenSSL's store of trusted certificates, holding one.
enum TrustStore {
  /// The caller frees it with `X509_STORE_free`.
  static func make(trusting anchor: Certificate) -> OpaquePointer? {
    guard let store = unsafe X509_STORE_new() else { return nil }
    guard unsafe X509_STORE_add_cert(store, anchor.backing.certificate) == 1 else {
      unsafe X509_STORE_free(store)
      return nil
    }
    return unsafe store
  }

  static func configure(_ parameters: OpaquePointer, at secondsSince1970: Int64?) {
    // The distribution's default may be higher, and refuses SHA-1 and RSA of 1024 bits; which of those are
    // acceptable, and when, is decided above.
    unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 0)
    unsafe X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_ANY)
    // An anchor is trusted because it is pinned, also where it is not self-signed.
    unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    if let secondsSince1970 {
      unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(secondsSince1970))
    } else {
      unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_NO_CHECK_TIME))
    }
  }
}
