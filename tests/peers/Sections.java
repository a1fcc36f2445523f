// SPDX-License-Identifier: Apache-2.0

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Runs critical sections. */
final class Sections {
  private static final int STAY_MS = 5; // long enough for others to come in if they may

  private Sections() {}

  /** Adds one by a read and a write, which is right only if the caller is alone. */
  static void add(Path file) throws Exception {
    int number = Integer.parseInt(Files.readString(file).trim());
    Files.writeString(file, (number + 1) + "\n");
  }

  static void visit(Path file) throws Exception {
    Files.writeString(file, "in\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    Thread.sleep(STAY_MS);
    Files.writeString(file, "out\n", StandardOpenOption.APPEND);
  }
}
