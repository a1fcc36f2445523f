// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.CountDownLatch;

/** Does the work of a NAME, in a thread of its own. */
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

  void repeat(Contender contender, int times, Work work, String done) throws Exception {
    for (int n = 0; n < times; ++n) {
      contender.take(true);
      try {
        work.run();
      } finally {
        contender.release();
      }
    }
    Answers.say(done, name);
  }
}
