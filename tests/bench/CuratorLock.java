// SPDX-License-Identifier: Apache-2.0

import java.util.Arrays;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/**
 * CuratorLock PATH [N [COMMAND…]]: runs the command (`true`) N times (1) under Curator's InterProcessMutex, on
 * ZKLOCK_SERVERS.
 */
public final class CuratorLock {
  private static final int SESSION_MS = 15_000;

  private CuratorLock() {}

  public static void main(String[] arguments) throws Exception {
    int times = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1;
    String[] command =
        arguments.length > 2 ? Arrays.copyOfRange(arguments, 2, arguments.length) : new String[] {"true"};
    String servers = System.getenv("ZKLOCK_SERVERS");
    try (CuratorFramework client =
        CuratorFrameworkFactory.newClient(servers, SESSION_MS, SESSION_MS, new RetryOneTime(100))) {
      client.start();
      InterProcessMutex mutex = new InterProcessMutex(client, arguments[0]);
      for (int n = 0; n < times; ++n) runCommand(mutex, command);
    }
  }

  private static void runCommand(InterProcessMutex mutex, String[] command) throws Exception {
    mutex.acquire();
    try {
      int status = new ProcessBuilder(command).inheritIO().start().waitFor();
      if (status != 0) throw new IllegalStateException(command[0] + " ended with " + status);
    } finally {
      mutex.release();
    }
  }
}
