// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Converts between byte arrays and OpenSSL's buffers.
enum OpenSSLBytes {
  /// Returns the DER that an `i2d_…` function writes; `nil` if it fails. `encode` is called twice, the first time with
  /// `nil` to determine the length.
  static func encoded(
    _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
  ) -> [UInt8]? {
    let length = Int(encode(nil))
    guard length > 0 else { return nil }
    var complete = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      var position = buffer.baseAddress
      complete = unsafe Int(encode(&position)) == length
      count = complete ? length : 0
    }
    return complete ? bytes : nil
  }

  /// Decodes with a `d2i_…` function, which must consume all of `bytes`. Returns `nil` if it fails or leaves bytes
  /// over; in the latter case the object is freed with `free`.
  static func decoded(
    _ bytes: [UInt8], free: (OpaquePointer) -> Void,
    _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
  ) -> OpaquePointer? {
    unsafe bytes.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      guard let object = unsafe decode(&position, buffer.count) else { return nil }
      let end = unsafe buffer.baseAddress.map { unsafe $0 + buffer.count }
      guard unsafe position == end else {
        unsafe free(object)
        return nil
      }
      return unsafe object
    }
  }

  /// Returns a copy of the content of an ASN.1 string type.
  static func content(of string: UnsafeRawPointer) -> [UInt8] {
    var length = 0
    guard let data = unsafe COpenSSL_ASN1_STRING_get0_data(string, &length) else { return [] }
    return unsafe [UInt8](UnsafeBufferPointer(start: data, count: length))
  }

  /// Returns the seconds since 1970 of an ASN.1 time; `nil` if the time is missing or not valid.
  static func seconds(of time: UnsafeRawPointer?) -> Int64? {
    var seconds: Int64 = 0
    guard let time = unsafe time else { return nil }
    return unsafe COpenSSL_ASN1_TIME_seconds(time, &seconds) == 1 ? seconds : nil
  }

  /// Returns the bytes that `write` prints to a memory BIO; `nil` if it fails.
  static func written(_ write: (OpaquePointer) -> Bool) -> [UInt8]? {
    guard let bio = unsafe BIO_new(BIO_s_mem()) else { return nil }
    defer { unsafe BIO_free(bio) }
    guard unsafe write(bio) else { return nil }
    var data: UnsafePointer<UInt8>?
    let length = unsafe COpenSSL_BIO_get_mem_data(bio, &data)
    guard length > 0, let data = unsafe data else { return [] }
    return unsafe [UInt8](UnsafeBufferPointer(start: data, count: length))
  }

  /// Overwrites a secret before its memory is freed.
  static func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count)
    }
  }
}

/// Converts object identifiers between OpenSSL's objects and the dotted form.
enum OpenSSLObject {
  /// Returns the dotted form of an OpenSSL object; empty if there is no object, or the text has 512 characters or more.
  static func dotted(_ object: OpaquePointer?) -> String {
    guard let object = unsafe object else { return "" }
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
      let length = unsafe OBJ_obj2txt(buffer.baseAddress, Int32(buffer.count), object, 1)
      guard length > 0, Int(length) < buffer.count, let text = buffer.baseAddress else { return "" }
      return unsafe String(cString: text)
    }
  }

  /// Returns the dotted form of an algorithm's identifier.
  static func dotted(algorithm: UnsafePointer<X509_ALGOR>?) -> String {
    var object: OpaquePointer?
    unsafe X509_ALGOR_get0(&object, nil, nil, algorithm)
    return unsafe dotted(object)
  }

  /// Returns the dotted form of the first critical extension other than `known`; `nil` without such an extension.
  static func unknownCriticalExtension(
    among count: Int32, other known: Int32? = nil, _ extensionAt: (Int32) -> OpaquePointer?
  ) -> String? {
    for index in 0..<max(0, count) {
      guard let found = unsafe extensionAt(index), unsafe X509_EXTENSION_get_critical(found) == 1 else {
        continue
      }
      let object = unsafe X509_EXTENSION_get_object(found)
      if unsafe known == nil || OBJ_obj2nid(object) != known { return unsafe dotted(object) }
    }
    return nil
  }

  /// Calls `body` with the OpenSSL object for a dotted form; returns `nil` if `text` is not a dotted form.
  static func withObject<Result>(_ text: String, _ body: (OpaquePointer) -> Result?) -> Result? {
    guard let object = unsafe OBJ_txt2obj(text, 1) else {
      ErrorQueue.clear()
      return nil
    }
    defer { unsafe ASN1_OBJECT_free(object) }
    return unsafe body(object)
  }
}
