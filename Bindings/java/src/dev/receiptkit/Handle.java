// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicLong;

/** A verifier or signer of the library, which is freed by {@link #close} or when it is unreachable. */
abstract class Handle implements AutoCloseable {
  private static final Cleaner CLEANER = Cleaner.create();

  /** Without a reference to the object itself, which would be reachable forever. */
  private static final class State implements Runnable {
    final Native.Functions functions;
    final AtomicLong handle = new AtomicLong();

    State(Native.Functions functions) {
      this.functions = functions;
    }

    @Override
    public void run() {
      long taken = handle.getAndSet(0);
      if (taken != 0) functions.receiptkit_handle_free(taken);
    }
  }

  /** A function that creates a verifier or signer. */
  interface Creator {
    int run(Native.Functions functions, long[] handle, long[] result);
  }

  /** A function that uses one. */
  interface Use {
    int run(Native.Functions functions, long handle, long[] result);
  }

  private final State state = new State(Native.functions());
  private final Cleaner.Cleanable cleanable = CLEANER.register(this, state);

  Handle(Creator creator) {
    long[] handle = new long[1];
    Native.call(state.functions, (functions, result) -> creator.run(functions, handle, result)).successful();
    state.handle.set(handle[0]);
  }

  Native.Result use(Use use) {
    try {
      long handle = state.handle.get();
      if (handle == 0) throw new ClosedException();
      Native.Result result = Native.call(state.functions, (functions, text) -> use.run(functions, handle, text));
      if (result.status == Native.USAGE && state.handle.get() == 0) throw new ClosedException();
      return result;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Frees it. A second call does nothing. Calls of other threads finish, and later ones throw {@link ClosedException}. */
  @Override
  public void close() {
    cleanable.clean();
  }
}
