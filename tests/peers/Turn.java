// SPDX-License-Identifier: Apache-2.0

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** What a NAME does in its thread: it holds a lock until it is released, or counts under it. */
final class Turn {
  interface Work {
    void run() throws Exception;
  }

  private final String name;
  private final CountDownLatch over = new CountDownLatch(1);

  Turn(String name) {
    this.name = name;
  }

  void begin(Work work) {
    new Thread(() -> {
      try {
        work.run();
      } catch (Exception failure) {
        Answers.fail(name, failure);
      }
    }).start();
  }

  void hold(Contender contender, boolean wait) throws Exception {
    boolean held = contender.take(wait);
    Answers.say(held ? "held" : "busy", name);
    if (!held) return;
    over.await();
    Answers.say("leaves", name);
    contender.release();
    Answers.say("released", name);
  }

  void end() {
    over.countDown();
  }

  void endAsAsked() {
    Answers.say("asked", name);
    end();
  }

  /** Reads and writes as anybody would who is alone. */
  void count(Contender contender, Path file, int times) throws Exception {
    for (int n = 0; n < times; ++n) {
      contender.take(true);
      try {
        int number = Integer.parseInt(Files.readString(file).trim());
        Files.writeString(file, (number + 1) + "\n");
      } finally {
        contender.release();
      }
    }
    Answers.say("counted", name);
  }
}
