// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Object identifiers between OpenSSL's objects and their dotted form.
enum OpenSSLObject {
  /// The dotted form of an OpenSSL object; empty without one, or it is absurdly long.
  static func dotted(_ object: OpaquePointer?) -> String {
    guard let object = unsafe object else { return "" }
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
      let length = unsafe OBJ_obj2txt(buffer.baseAddress, Int32(buffer.count), object, 1)
      guard length > 0, Int(length) < buffer.count, let text = buffer.baseAddress else { return "" }
      return unsafe String(cString: text)
    }
  }

  /// Calls `body` with the OpenSSL object of a dotted form; `nil` where `text` is not one.
  static func withObject<Result>(_ text: String, _ body: (OpaquePointer) -> Result?) -> Result? {
    guard let object = unsafe OBJ_txt2obj(text, 1) else {
      ErrorQueue.clear()
      return nil
    }
    defer { unsafe ASN1_OBJECT_free(object) }
    return unsafe body(object)
  }
}
