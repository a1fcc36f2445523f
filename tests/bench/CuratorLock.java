// SPDX-License-Identifier: Apache-2.0

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** CuratorLock PATH [N]: N times (1) `true` under Curator's InterProcessMutex, on ZKLOCK_SERVERS. */
public final class CuratorLock {
  private static final int SESSION_MS = 15_000;

  private CuratorLock() {}

  public static void main(String[] arguments) throws Exception {
    int times = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1;
    String servers = System.getenv("ZKLOCK_SERVERS");
    try (CuratorFramework client =
        CuratorFrameworkFactory.newClient(servers, SESSION_MS, SESSION_MS, new RetryOneTime(100))) {
      client.start();
      InterProcessMutex mutex = new InterProcessMutex(client, arguments[0]);
      for (int n = 0; n < times; ++n) runTrue(mutex);
    }
  }

  private static void runTrue(InterProcessMutex mutex) throws Exception {
    mutex.acquire();
    try {
      int status = new ProcessBuilder("true").start().waitFor();
      if (status != 0) throw new IllegalStateException("true ended with " + status);
    } finally {
      mutex.release();
    }
  }
}
