// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;

/** Curator's LeaderSelector, which leads until it is released. */
final class SelectedLeader implements Contender {
  private final CountDownLatch leads = new CountDownLatch(1);
  private final CountDownLatch over = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private final LeaderSelector selector;

  SelectedLeader(CuratorFramework client, String path) {
    selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
      @Override
      public void takeLeadership(CuratorFramework with) throws Exception {
        leads.countDown();
        try {
          over.await();
        } finally {
          ended.countDown();
        }
      }
    });
  }

  @Override
  public boolean take(boolean wait) throws Exception {
    selector.start();
    if (wait) leads.await();
    if (wait || leads.await(1, TimeUnit.SECONDS)) return true;
    selector.close();
    return false;
  }

  /** Its node is deleted when takeLeadership() has returned. */
  @Override
  public void release() throws Exception {
    over.countDown();
    ended.await();
    selector.close();
  }
}
