// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** The tests of the binding. usage: java … dev.receiptkit.Tests, in the folder of this binding. */
final class Tests {
  private static final Path VECTORS = Path.of(System.getProperty("receiptkit.root", "../.."), "TestVectors");

  interface Test {
    void run() throws Exception;
  }

  private static void check(boolean condition, Object shown) {
    if (!condition) throw new AssertionError("not as expected: " + shown);
  }

  /** The exception of a type that a call throws. */
  private static <E extends Throwable> E thrown(Class<E> type, Test call) {
    try {
      call.run();
    } catch (Throwable error) {
      if (type.isInstance(error)) return type.cast(error);
      throw new AssertionError("another exception than " + type, error);
    }
    throw new AssertionError("nothing is thrown");
  }

  private static byte[] read(String path) throws Exception {
    return Files.readAllBytes(VECTORS.resolve(path));
  }

  /** Accepts the vectors, at an instant at which their subscription is active. */
  private static Map<String, Object> policy() throws Exception {
    Map<String, Object> policy = new HashMap<>();
    policy.put("bundleIds", List.of("com.example.app"));
    policy.put("environments", List.of("production", "sandbox"));
    policy.put("time", "2025-10-15T00:00:00Z");
    policy.put("trust", List.of(new String(read("certificates/es256-root.pem"), StandardCharsets.UTF_8)));
    return policy;
  }

  private static Map<String, Object> with(String name, Object value) throws Exception {
    Map<String, Object> policy = policy();
    policy.put(name, value);
    return policy;
  }

  private static Verifier verifier() throws Exception {
    return new Verifier(policy());
  }

  private static byte[] valid() throws Exception {
    return read("signed-transaction/valid.jws");
  }

  private static byte[] undetermined() throws Exception {
    return read("google-play-purchase/key-missing.json");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static void aValidReceipt() throws Exception {
    try (Verifier verifier = verifier()) {
      Verdict verdict = verifier.verify(valid());
      check(verdict.isValid() && verdict.grantsAccess() && verdict.standing().equals("active") && verdict.reason() == null, verdict);
      check(verdict.transactions().get(0).get("transactionId").equals("2000000001"), verdict);
      check(verdict.transactions().get(0).get("price").equals(9990L), verdict);
      check(Json.read(Json.write(verdict.toMap())).equals(Json.read(verdict.json())), verdict);
      thrown(UnsupportedOperationException.class, () -> verdict.toMap().put("verdict", "valid"));
      thrown(UnsupportedOperationException.class, () -> verdict.transactions().get(0).put("productId", "x"));
    }
  }

  private static void whatIsNotValidGrantsNothing() throws Exception {
    try (Verifier verifier = verifier()) {
      byte[] longer = Arrays.copyOf(valid(), valid().length + 1);
      longer[longer.length - 1] = 'A';
      for (byte[] receipt : List.of(new byte[0], new byte[1], bytes("\u00ff\u00fe"), new byte[17 << 20], longer)) {
        Verdict verdict = verifier.verify(receipt);
        check(verdict.verdict() == Verdict.Word.INVALID && !verdict.isValid() && !verdict.grantsAccess(), verdict);
        check(!verdict.reason().code().isEmpty(), verdict);
      }
      Verdict verdict = verifier.verify(undetermined());
      check(verdict.verdict() == Verdict.Word.UNDETERMINED && !verdict.isValid() && !verdict.grantsAccess(), verdict);
    }
  }

  private static void aVerdictContradictsNoStatus() {
    thrown(ReceiptKitException.class, () -> new Verdict(0, "{\"verdict\":\"invalid\"}"));
    thrown(ReceiptKitException.class, () -> new Verdict(1, "{\"verdict\":\"valid\"}"));
    thrown(ReceiptKitException.class, () -> new Verdict(3, "{\"verdict\":\"valid\"}"));
    for (String wrong : List.of("{}", "[]", "null", "", "7")) thrown(ReceiptKitException.class, () -> new Verdict(0, wrong));
  }

  private static void manyReceipts() throws Exception {
    try (Verifier verifier = verifier()) {
      List<Verdict> verdicts = verifier.verifyMany(List.of(valid(), new byte[0], bytes("x"), valid(), new byte[0]));
      check(verdicts.stream().map(Verdict::isValid).toList().equals(List.of(true, false, false, true, false)), verdicts);
      check(verifier.verifyMany(List.of()).isEmpty(), "");
      thrown(NullPointerException.class, () -> verifier.verifyMany(Arrays.asList(valid(), null)));
    }
  }

  private static void thePayload() throws Exception {
    try (Verifier verifier = verifier()) {
      check(Native.members(verifier.payload(valid())).get("transactionId").equals("2000000001"), "");
      NotValidException error = thrown(NotValidException.class, () -> verifier.payload(bytes("x")));
      check(error.verdict().verdict() == Verdict.Word.INVALID && error.status() == 1, error);
      check(thrown(NotValidException.class, () -> verifier.payload(undetermined())).status() == 2, "");
    }
  }

  private static void aWrongPolicy() throws Exception {
    check(thrown(ReceiptKitException.class, () -> new Verifier(with("bundleIDs", List.of()))).code().equals("unexpected"), "");
    check(thrown(ReceiptKitException.class, () -> new Verifier(with("x", 1))).place().equals("$.x"), "");
    check(thrown(ReceiptKitException.class, () -> new Verifier("{")).code().equals("truncated"), "");
    check(thrown(ReceiptKitException.class, () -> new Verifier(with("trust", List.of("x")))).code().equals("malformed-certificate"), "");
    for (Object wrong : Arrays.asList(new Object(), Double.NaN, Float.POSITIVE_INFINITY, new byte[1])) {
      check(thrown(ReceiptKitException.class, () -> new Verifier(with("maximumAge", wrong))).status() == 64, wrong);
    }
    for (String wrong : List.of("", "null", "[]", "{}", "\0", "{\"bundleIds\":[\"\ud800\"]}", "[".repeat(100_000))) {
      check(thrown(ReceiptKitException.class, () -> new Verifier(wrong)).status() >= 64, wrong);
    }
    thrown(NullPointerException.class, () -> new Verifier((String) null));
    thrown(NullPointerException.class, () -> new Verifier((Map<String, ?>) null));
    Map<String, Object> itself = policy();
    itself.put("trust", itself);
    thrown(ReceiptKitException.class, () -> new Verifier(itself));
  }

  private static void nulls() throws Exception {
    try (Verifier verifier = verifier()) {
      thrown(NullPointerException.class, () -> verifier.verify(null));
      thrown(NullPointerException.class, () -> verifier.payload(null));
      thrown(NullPointerException.class, () -> verifier.verifyMany(null));
      thrown(NullPointerException.class, () -> ReceiptKit.inspectUnverified(null, false));
      thrown(NullPointerException.class, () -> ReceiptKit.load(null));
    }
  }

  private static void aClosedVerifier() throws Exception {
    Verifier verifier = verifier();
    verifier.close();
    verifier.close();
    thrown(ClosedException.class, () -> verifier.verify(valid()));
    thrown(ClosedException.class, () -> verifier.verifyMany(List.of()));
    thrown(ClosedException.class, () -> verifier.payload(valid()));
  }

  private static void all(int count, Callable<Boolean> work) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(count);
    List<Future<Boolean>> results = new ArrayList<>();
    for (int index = 0; index < count; index++) results.add(threads.submit(work));
    for (Future<Boolean> result : results) check(result.get(), "a thread");
    threads.shutdown();
  }

  private static void garbageIsCollectedWhileCallsRun() throws Exception {
    byte[] receipt = valid();
    Map<String, Object> policy = policy();
    AtomicInteger count = new AtomicInteger();
    all(8, () -> {
      for (int index = 0; index < 50; index++) {
        // Nothing refers to the verifier while the call runs, and nobody closes it.
        if (!new Verifier(policy).verify(receipt.clone()).isValid()) return false;
        if (count.incrementAndGet() % 20 == 0) System.gc();
      }
      return true;
    });
  }

  private static void closingWhileOthersVerify() throws Exception {
    Verifier verifier = verifier();
    byte[] receipt = valid();
    AtomicInteger count = new AtomicInteger();
    all(8, () -> {
      while (true) {
        try {
          if (!verifier.verify(receipt).isValid()) return false;
        } catch (ClosedException error) {
          return true;
        }
        if (count.incrementAndGet() == 100) verifier.close();
      }
    });
  }

  private static void aThreadWithLittleStack() throws Exception {
    try (Verifier verifier = verifier()) {
      byte[] receipt = read("app-receipt/issuer-missing.b64");
      AtomicInteger count = new AtomicInteger();
      Thread thread = new Thread(null, () -> count.addAndGet(verifier.verify(receipt).isValid() ? 100 : 1), "small", 256 << 10);
      thread.start();
      thread.join();
      check(count.get() == 1, count);
    }
  }

  private static long resident() throws Exception {
    return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * 4096;
  }

  private static void nothingIsKeptOfACall() throws Exception {
    if (Runtime.getRuntime().maxMemory() > 256 << 20) {
      System.out.println("SKIPPED: the heap may grow, so that nothing can be measured; README.md has the options");
      return;
    }
    byte[] receipt = valid();
    Map<String, Object> policy = policy();
    // What is in it is as long.
    String content = Json.write(Map.of("packageName", "x".repeat(1_000_000)));
    byte[] large = bytes(Json.write(Map.of("data", content, "signature", "AAAA")));
    Test run = () -> {
      for (int index = 0; index < 100; index++) {
        new Verifier(policy).verify(receipt);
        ReceiptKit.inspectUnverified(large, false);
        thrown(ReceiptKitException.class, () -> new Verifier("{"));
        if (index % 20 == 0) System.gc();
      }
    };
    run.run();
    run.run();
    long before = resident();
    run.run();
    check(resident() - before < 48 << 20, resident() - before);
  }

  private static void anInspection() throws Exception {
    Map<String, Object> content = ReceiptKit.inspectUnverified(valid(), false);
    check(content.get("verified").equals(false) && content.toString().contains("7e3fb204"), content);
    check(!ReceiptKit.inspectUnverified(valid(), true).toString().contains("7e3fb204"), "");
    check(thrown(ReceiptKitException.class, () -> ReceiptKit.inspectUnverified(new byte[0], false)).status() == 1, "");
  }

  private static String pem(String label, byte[] content) {
    return "-----BEGIN " + label + "-----\n" + Base64.getMimeEncoder().encodeToString(content) + "\n-----END " + label + "-----\n";
  }

  private static void javaSignsBeforeAndAfter() throws GeneralSecurityException {
    for (int time = 0; time < 2; time++) {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(2048);
      KeyPair pair = generator.generateKeyPair();
      Signature signature = Signature.getInstance("SHA256withRSA");
      signature.initSign(pair.getPrivate());
      signature.update((byte) 1);
      byte[] signed = signature.sign();
      signature.initVerify(pair.getPublic());
      signature.update((byte) 1);
      check(signature.verify(signed), "");
      Map<String, Object> purchase = new LinkedHashMap<>();
      purchase.put("orderId", "GPA.1");
      purchase.put("packageName", "com.example.app");
      purchase.put("productId", "gems");
      purchase.put("purchaseTime", 1759302550000L);
      purchase.put("purchaseState", 0);
      purchase.put("purchaseToken", "t");
      Map<String, Object> key = Map.of("package", "com.example.app", "key", pem("PUBLIC KEY", pair.getPublic().getEncoded()));
      Map<String, Object> policy = Map.of("bundleIds", List.of("com.example.app"), "unstatedEnvironment", "accept", "playKeys", List.of(key));
      try (Signer signer = new Signer(Map.of("privateKey", pem("PRIVATE KEY", pair.getPrivate().getEncoded())));
          Verifier verifier = new Verifier(policy)) {
        Verdict verdict = verifier.verify(bytes(signer.sign("google-play-purchase", purchase).receipt()));
        check(verdict.isValid() && verdict.transactions().get(0).get("productId").equals("gems"), verdict);
        check(thrown(ReceiptKitException.class, () -> signer.sign("nonsense", Map.of())).place().equals("$.format"), "");
      }
      Signer closed = new Signer(Map.of("privateKey", pem("PRIVATE KEY", pair.getPrivate().getEncoded())));
      closed.close();
      thrown(ClosedException.class, () -> closed.sign("google-play-purchase", purchase));
    }
    thrown(ReceiptKitException.class, () -> new Signer(Map.of("privateKey", "no key")));
  }

  /** A proof and its key are given by Tests/Interoperability. */
  private static void proofs() throws Exception {
    String key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    ReceiptKit.ProofCheck check = ReceiptKit.checkProof(bytes("no proof"), new ReceiptKit.ProofRequest(key, null, null, null));
    check(!check.isProven() && check.message() != null, check);
    for (ReceiptKit.ProofRequest wrong :
        List.of(
            new ReceiptKit.ProofRequest(null, null, null, null), new ReceiptKit.ProofRequest("x", null, null, null),
            new ReceiptKit.ProofRequest(null, "x", null, null), new ReceiptKit.ProofRequest(key, "x", null, null))) {
      thrown(ReceiptKitException.class, () -> ReceiptKit.checkProof(new byte[0], wrong));
    }
    if (System.getenv("RECEIPTKIT_TEST_PROOF") == null) {
      System.out.println("SKIPPED: RECEIPTKIT_TEST_PROOF is not set");
      return;
    }
    byte[] proof = Files.readAllBytes(Path.of(System.getenv("RECEIPTKIT_TEST_PROOF")));
    String trusted = Files.readString(Path.of(System.getenv("RECEIPTKIT_TEST_PROOF_KEY"))).strip();
    check(ReceiptKit.checkProof(proof, new ReceiptKit.ProofRequest(trusted, null, null, null)).isProven(), "");
    check(!ReceiptKit.checkProof(proof, new ReceiptKit.ProofRequest(trusted, null, null, bytes("another"))).isProven(), "");
  }

  private static void theVersion() {
    check(ReceiptKit.version().get("libcrypto") instanceof String, ReceiptKit.version());
  }

  private static void aLibraryThatIsNone() throws Exception {
    for (String path : List.of("/nowhere/libreceiptkit.so", "/etc/passwd", "libm.so.6")) {
      thrown(ReceiptKitException.class, () -> ReceiptKit.load(path));
    }
    try (Verifier verifier = verifier()) {
      check(verifier.verify(valid()).isValid(), "");
    }
  }

  private static void theReaderOfJson() {
    for (String right :
        List.of("{}", "[]", "\"\"", "null", "true", "-0", "0.5e-3", "9223372036854775807", "1e400", "[[[[]]]]", "{\"a\":[1,{\"b\":null}]}", "\"é😀\\u00e9\"")) {
      Object value = Json.read(right);
      check(Objects.equals(Json.read(Json.write(value)), value), right);
    }
    check(Json.read(" [1 , 2.50, \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\ud83d\\ude00\"] ").equals(List.of(1L, new java.math.BigDecimal("2.50"), "\"\\/\b\f\n\r\t😀")), "");
    check(Json.write(Map.of("a\"\n\0", Arrays.asList(null, "\ud800"))).equals("{\"a\\\"\\u000a\\u0000\":[null,\"\\ud800\"]}"), "");
    for (String wrong :
        List.of(
            "", " ", "{", "}", "[", "[1", "[1,", "[1,]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "{a:1}", "01", "-", "1.", ".5", "1e", "+1",
            "NaN", "tru", "nul", "\"", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u00zz\"", "\"\\u٠٠٠٠\"", "\"\n\"", "1 2", "[] x", "'a'", "\ufeff1", "\u00a01",
            "[".repeat(1_000_000), "1".repeat(100_000), "{\"a\":".repeat(1000))) {
      thrown(IllegalArgumentException.class, () -> Json.read(wrong));
    }
  }

  public static void main(String[] arguments) {
    Map<String, Test> tests = new LinkedHashMap<>();
    tests.put("the reader of JSON", Tests::theReaderOfJson);
    tests.put("a valid receipt", Tests::aValidReceipt);
    tests.put("what is not valid grants nothing", Tests::whatIsNotValidGrantsNothing);
    tests.put("a verdict contradicts no status", Tests::aVerdictContradictsNoStatus);
    tests.put("many receipts", Tests::manyReceipts);
    tests.put("the payload", Tests::thePayload);
    tests.put("a wrong policy", Tests::aWrongPolicy);
    tests.put("nulls", Tests::nulls);
    tests.put("a closed verifier", Tests::aClosedVerifier);
    tests.put("garbage is collected while calls run", Tests::garbageIsCollectedWhileCallsRun);
    tests.put("closing while others verify", Tests::closingWhileOthersVerify);
    tests.put("a thread with little stack", Tests::aThreadWithLittleStack);
    tests.put("nothing is kept of a call", Tests::nothingIsKeptOfACall);
    tests.put("an inspection", Tests::anInspection);
    tests.put("Java signs before and after", Tests::javaSignsBeforeAndAfter);
    tests.put("proofs", Tests::proofs);
    tests.put("the version", Tests::theVersion);
    tests.put("a library that is none", Tests::aLibraryThatIsNone);
    int failures = 0;
    for (Map.Entry<String, Test> test : tests.entrySet()) {
      try {
        test.getValue().run();
        System.out.println("passed: " + test.getKey());
      } catch (Throwable error) {
        failures++;
        System.out.println("FAILED: " + test.getKey());
        error.printStackTrace(System.out);
      }
    }
    System.exit(failures == 0 ? 0 : 1);
  }
}
