// SPDX-License-Identifier: Apache-2.0

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Prints what the driver answers: lines "MICROSECONDS WORD NAME", by the wall clock. */
final class Answers {
  private Answers() {}

  static synchronized void say(String word, String name) {
    System.out.println(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()) + " " + word + " " + name);
    System.out.flush();
  }

  static void fail(String name, Throwable failure) {
    say("failed", name + ": " + failure);
    failure.printStackTrace();
  }
}
