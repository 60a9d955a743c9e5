// SPDX-License-Identifier: Apache-2.0

// usage: POLICY=policy.json PORT=8080 java -cp receiptkit.jar:jna.jar example/Server.java
//
// Takes a receipt as the body of a POST, and answers whether it grants access.

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.receiptkit.ReceiptKitException;
import dev.receiptkit.Verdict;
import dev.receiptkit.Verifier;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;

final class Server {
  private static final int LONGEST = 4 << 20;

  private final Verifier verifier;

  private Server(Verifier verifier) {
    this.verifier = verifier;
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] receipt = exchange.getRequestBody().readNBytes(LONGEST + 1);
      if (!exchange.getRequestMethod().equals("POST")) {
        answer(exchange, 405, false, null);
      } else if (receipt.length > LONGEST) {
        answer(exchange, 413, false, null);
      } else {
        answer(exchange, receipt);
      }
    }
  }

  private void answer(HttpExchange exchange, byte[] receipt) throws IOException {
    Verdict verdict;
    try {
      verdict = verifier.verify(receipt);
    } catch (ReceiptKitException error) {
      error.printStackTrace();
      answer(exchange, 500, false, null);
      return;
    }
    switch (verdict.verdict()) {
      // Genuine is not enough: a purchase may have expired, or may have been refunded.
      case VALID -> answer(exchange, 200, verdict.grantsAccess(), null);
      case INVALID -> answer(exchange, 200, false, verdict.reason().code());
      case UNDETERMINED -> {
        // It could not be checked. That is neither valid nor invalid: the sender keeps the receipt.
        exchange.getResponseHeaders().set("Retry-After", "60");
        answer(exchange, 503, false, verdict.reason().code());
      }
    }
  }

  /** A reason code has nothing that JSON would have to escape. */
  private static void answer(HttpExchange exchange, int status, boolean grantsAccess, String reason) throws IOException {
    String body = "{\"grantsAccess\":" + grantsAccess + (reason == null ? "" : ",\"reason\":\"" + reason + "\"") + "}";
    byte[] content = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, content.length);
    exchange.getResponseBody().write(content);
  }

  public static void main(String[] arguments) throws IOException {
    Verifier verifier = new Verifier(Files.readString(Path.of(System.getenv("POLICY"))));
    int port = Integer.parseInt(System.getenv("PORT"));
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.createContext("/", new Server(verifier)::handle);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.start();
    System.out.println("ready at port " + server.getAddress().getPort());
  }
}
