// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Prints the verdicts on receipts that it reads, for comparison with those of receipt-tool. */
final class Parity {
  private static String summary(Verdict verdict) {
    Map<String, Object> found = new LinkedHashMap<>();
    found.put("verdict", verdict.verdict().name().toLowerCase(java.util.Locale.ROOT));
    found.put("code", verdict.reason() == null ? null : verdict.reason().code());
    found.put("place", verdict.reason() == null ? null : verdict.reason().place());
    List<Object> transactions = new ArrayList<>();
    for (Map<String, Object> purchase : verdict.transactions()) transactions.add(purchase.get("transactionId"));
    found.put("transactions", transactions);
    return Json.write(found);
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream output = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      Map<String, Object> group = Native.members(line);
      List<byte[]> receipts = new ArrayList<>();
      for (Object receipt : (List<?>) group.get("receipts")) receipts.add(Base64.getDecoder().decode((String) receipt));
      try (Verifier verifier = new Verifier(Json.write(group.get("policy")))) {
        List<Verdict> together = verifier.verifyMany(receipts);
        for (int index = 0; index < receipts.size(); index++) {
          String alone = summary(verifier.verify(receipts.get(index)));
          if (!alone.equals(summary(together.get(index)))) {
            throw new IllegalStateException("verify says " + alone + ", and verifyMany " + summary(together.get(index)));
          }
          output.println(alone);
        }
      }
    }
    output.flush();
    if (output.checkError()) throw new IllegalStateException("The output cannot be written.");
  }
}
