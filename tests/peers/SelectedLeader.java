// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;

/** Leads by Curator's LeaderSelector until it is released. */
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

  /** Waits for the end of takeLeadership(), because the node is deleted after it. */
  @Override
  public void release() throws Exception {
    over.countDown();
    ended.await();
    selector.close();
  }
}
