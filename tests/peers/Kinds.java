// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.GroupMember;

/** Makes contenders from the names of the recipes. */
final class Kinds {
  private final CuratorFramework client;
  private final String servers;

  Kinds(CuratorFramework client, String servers) {
    this.client = client;
    this.servers = servers;
  }

  /** Makes a contender. If it is revocable and a Revoker wants it, a thread of Curator's runs `asked`. */
  Contender make(String kind, String path, Runnable asked) throws Exception {
    String[] words = kind.split("[.]", 2);
    switch (words[0]) {
      case "InterProcessMutex":
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        if (words.length > 1) mutex.makeRevocable(lock -> asked.run());
        return mutex(mutex);
      case "InterProcessReadWriteLock":
        InterProcessReadWriteLock pair = new InterProcessReadWriteLock(client, path);
        return mutex(words[1].equals("read") ? pair.readLock() : pair.writeLock());
      case "InterProcessSemaphoreV2":
        return semaphore(new InterProcessSemaphoreV2(client, path, Integer.parseInt(words[1])));
      case "LeaderLatch":
        return latch(new LeaderLatch(client, path));
      case "LeaderSelector":
        return new SelectedLeader(client, path);
      case "GroupMember":
        return member(new GroupMember(client, path, words[1], "curator".getBytes()));
      case "WriteLock":
        client.createContainers(path.substring(0, path.lastIndexOf('/')));
        return new RecipeLock(servers, path);
      default:
        throw new IllegalArgumentException("no kind " + kind);
    }
  }

  private static Contender mutex(InterProcessMutex mutex) {
    return new Contender() {
      @Override
      public boolean take(boolean wait) throws Exception {
        if (!wait) return mutex.acquire(0, TimeUnit.MILLISECONDS);
        mutex.acquire();
        return true;
      }

      @Override
      public void release() throws Exception {
        mutex.release();
      }
    };
  }

  /** Makes a latch. Without `wait` it gets a second to lead, and is closed if it does not. */
  private static Contender latch(LeaderLatch latch) {
    return new Contender() {
      @Override
      public boolean take(boolean wait) throws Exception {
        latch.start();
        if (wait) latch.await();
        if (wait || latch.await(1, TimeUnit.SECONDS)) return true;
        latch.close();
        return false;
      }

      @Override
      public void release() throws Exception {
        latch.close();
      }
    };
  }

  /** Makes a membership, which never has to wait. */
  private static Contender member(GroupMember member) {
    return new Contender() {
      @Override
      public boolean take(boolean wait) {
        member.start();
        return true;
      }

      @Override
      public void release() {
        member.close();
      }
    };
  }

  private static Contender semaphore(InterProcessSemaphoreV2 semaphore) {
    return new Contender() {
      private Lease lease;

      @Override
      public boolean take(boolean wait) throws Exception {
        lease = wait ? semaphore.acquire() : semaphore.acquire(0, TimeUnit.MILLISECONDS);
        return lease != null;
      }

      @Override
      public void release() {
        semaphore.returnLease(lease);
      }
    };
  }
}
