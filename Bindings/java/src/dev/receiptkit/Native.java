// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

import com.sun.jna.Library;
import com.sun.jna.Pointer;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.CodeSource;
import java.util.Map;

/** The C library, which is loaded once. */
final class Native {
  static final int VALID = 0;
  static final int INVALID = 1;
  static final int UNDETERMINED = 2;
  static final int USAGE = 64;
  static final int INTERNAL = 70;
  static final int REDACTED = 1;
  private static final int ABI_VERSION = 1;
  private static final int RTLD_NOW = 2;

  /** What receiptkit.h declares. A receiptkit_text is two numbers: the address and the length. */
  interface Functions extends Library {
    int receiptkit_abi_version();

    int receiptkit_version(long[] result);

    int receiptkit_verifier_create(byte[] policy, long length, long[] verifier, long[] result);

    int receiptkit_verify(long verifier, byte[] receipt, long length, long[] result);

    int receiptkit_verify_batch(long verifier, byte[] receipts, long[] offsets, long count, byte[] statuses, long[] result);

    int receiptkit_payload(long verifier, byte[] receipt, long length, long[] result);

    int receiptkit_inspect(byte[] receipt, long length, int options, long[] result);

    int receiptkit_signer_create(byte[] identity, long length, long[] signer, long[] result);

    int receiptkit_sign(long signer, byte[] request, long length, long[] result);

    int receiptkit_check_proof(byte[] proof, long length, byte[] request, long requestLength, long[] result);

    int receiptkit_handle_free(long handle);

    void receiptkit_text_free(long[] text);
  }

  /** The outcome of a call. */
  static final class Result {
    final int status;
    final String text;

    Result(int status, String text) {
      this.status = status;
      this.text = text;
    }

    /** The text of a call that has no other outcome than success. */
    String successful() {
      if (status != VALID) throw failure(this);
      return text;
    }
  }

  /** A call of which the last argument is the result. */
  interface Call {
    int run(Functions functions, long[] result);
  }

  private static volatile Functions loaded;

  private Native() {}

  static Functions functions() {
    Functions found = loaded;
    return found == null ? loadOnce() : found;
  }

  private static synchronized Functions loadOnce() {
    return loaded == null ? load(path()) : loaded;
  }

  static synchronized Functions load(String path) {
    if (com.sun.jna.Native.SIZE_T_SIZE != 8) throw internal("This package needs a 64-bit system.");
    Functions functions;
    int version;
    try {
      functions = com.sun.jna.Native.load(path, Functions.class, Map.of(Library.OPTION_OPEN_FLAGS, RTLD_NOW));
      version = functions.receiptkit_abi_version();
    } catch (LinkageError error) {
      throw new ReceiptKitException("unavailable", "The library cannot be loaded: " + error.getMessage(), INTERNAL, null, error);
    }
    if (version != ABI_VERSION) {
      throw internal("The library has version " + version + " of the interface, and this package needs " + ABI_VERSION + ".");
    }
    return loaded = functions;
  }

  private static String path() {
    String named = System.getProperty("receiptkit.library", System.getenv("RECEIPTKIT_LIBRARY"));
    if (named != null && !named.isEmpty()) return named;
    CodeSource source = Native.class.getProtectionDomain().getCodeSource();
    if (source != null) {
      try {
        File beside = new File(new File(source.getLocation().toURI()).getParentFile(), "libreceiptkit.so");
        if (beside.isFile()) return beside.getPath();
      } catch (URISyntaxException | IllegalArgumentException error) {
        // The package is in no file.
      }
    }
    return "libreceiptkit.so.1";
  }

  static Result call(Functions functions, Call call) {
    long[] text = new long[2];
    try {
      int status = call.run(functions, text);
      if (text[0] == 0) return new Result(status, "");
      if (text[1] > Integer.MAX_VALUE - 16) throw internal("The result is longer than a string of Java.");
      byte[] content = new Pointer(text[0]).getByteArray(0, (int) text[1]);
      return new Result(status, StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString());
    } catch (CharacterCodingException error) {
      throw internal("What the library returned is no UTF-8.");
    } finally {
      functions.receiptkit_text_free(text);
    }
  }

  /** A text in UTF-8. What is no Unicode is an error: it would be replaced by a question mark. */
  static byte[] utf8(String text) {
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] content = new byte[encoded.remaining()];
      encoded.get(content);
      return content;
    } catch (CharacterCodingException error) {
      throw new ReceiptKitException("usage", "The text has a surrogate that is alone.", USAGE, null, error);
    }
  }

  /** The JSON of a map in UTF-8. */
  static byte[] document(Map<String, ?> members) {
    try {
      return utf8(Json.write(members));
    } catch (IllegalArgumentException | ClassCastException error) {
      throw new ReceiptKitException("usage", error.getMessage(), USAGE, null, error);
    }
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> members(String json) {
    try {
      Object value = Json.read(json);
      if (value instanceof Map) return (Map<String, Object>) value;
    } catch (IllegalArgumentException error) {
      throw internal("What the library returned cannot be read: " + error.getMessage());
    }
    throw internal("What the library returned is no object.");
  }

  static ReceiptKitException failure(Result result) {
    Map<String, Object> error = members(result.text);
    if (!(error.get("code") instanceof String)) return internal("The library returned the status " + result.status + " without an error.");
    return new ReceiptKitException((String) error.get("code"), (String) error.get("message"), result.status, (String) error.get("place"), null);
  }

  static ReceiptKitException internal(String message) {
    return new ReceiptKitException("internal-fault", message, INTERNAL, null, null);
  }
}
