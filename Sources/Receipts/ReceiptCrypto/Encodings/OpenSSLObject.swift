// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

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
