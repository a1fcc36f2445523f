// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;

/** Uses ZooKeeper's own recipe. It knows its node by the session, so each lock has its own session. */
final class RecipeLock implements Contender {
  private final ZooKeeper session;
  private final WriteLock lock;
  private final CountDownLatch acquired = new CountDownLatch(1);

  RecipeLock(String servers, String path) throws Exception {
    session = new ZooKeeper(servers, Driver.SESSION_MS, event -> {});
    lock = new WriteLock(session, path, ZooDefs.Ids.OPEN_ACL_UNSAFE, new LockListener() {
      @Override
      public void lockAcquired() {
        acquired.countDown();
      }

      @Override
      public void lockReleased() {}
    });
  }

  @Override
  public boolean take(boolean wait) throws Exception {
    if (lock.lock()) return true;
    if (wait) {
      acquired.await();
    } else {
      release();
    }
    return wait;
  }

  @Override
  public void release() throws Exception {
    lock.unlock();
    lock.close(); // or the watch on another's node would make it stand in line again
    session.close();
  }
}
