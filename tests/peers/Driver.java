// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.retry.RetryOneTime;

/**
 * Driver SERVERS: runs Curator's locks and groups and ZooKeeper's WriteLock, for the tests. Obeys the lines of its
 * standard input and answers with lines "MICROSECONDS WORD NAME", the first of them "ready driver".
 *
 *   take NAME KIND PATH          held; leaves and released, after it was told to or a Revoker has asked it to
 *   try NAME KIND PATH           the same, or busy
 *   release NAME
 *   count NAME KIND PATH FILE N  counted: it has added one to the number in FILE N times, under the lock
 *   visit NAME KIND PATH FILE N  visited: N times, a while between "in" and "out" in FILE
 *   revoke NAME PATH             gone: the InterProcessMutex's holder was asked to let go, and has
 *   token NAME PATH              czxid: that of the first node in the line of an InterProcessMutex, instead of the NAME
 *   see NAME PATH MEMBER         seen: a GroupMember, which is in until then, has seen that MEMBER
 *
 * A revocable holder says "asked". A new state of the connection is a WORD for the NAME "connection". After an error,
 * the answer is "failed NAME: WHY".
 */
public final class Driver {
  static final int SESSION_MS = 30_000;

  private final CuratorFramework client;
  private final Kinds kinds;
  private final Map<String, Turn> turns = new HashMap<>();

  private Driver(CuratorFramework client, String servers) {
    this.client = client;
    kinds = new Kinds(client, servers);
  }

  public static void main(String[] arguments) throws Exception {
    String servers = arguments[0];
    CuratorFramework client = CuratorFrameworkFactory.newClient(servers, SESSION_MS, SESSION_MS, new RetryOneTime(100));
    client.getConnectionStateListenable().addListener(
        (of, state) -> Answers.say(state.toString().toLowerCase(), "connection"));
    client.start();
    client.blockUntilConnected();
    Driver driver = new Driver(client, servers);
    Answers.say("ready", "driver");
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) driver.obey(line.split(" "));
    client.close();
    System.exit(0);
  }

  private void obey(String[] words) {
    String name = words[1];
    if (words[0].equals("release")) {
      turns.get(name).end();
      return;
    }
    Turn turn = new Turn(name);
    turns.put(name, turn);
    turn.begin(() -> run(turn, words));
  }

  private void run(Turn turn, String[] words) throws Exception {
    if (words[0].equals("revoke")) {
      revoke(words[1], words[2]);
      return;
    }
    if (words[0].equals("token")) {
      Answers.say("czxid", String.valueOf(client.checkExists().forPath(holder(words[2])).getCzxid()));
      return;
    }
    if (words[0].equals("see")) {
      see(words[1], words[2], words[3]);
      return;
    }
    Contender contender = kinds.make(words[2], words[3], turn::endAsAsked);
    if (words.length == 4) {
      turn.hold(contender, words[0].equals("take"));
      return;
    }
    Path file = Path.of(words[4]);
    int times = Integer.parseInt(words[5]);
    if (words[0].equals("count")) turn.repeat(contender, times, () -> Sections.add(file), "counted");
    if (words[0].equals("visit")) turn.repeat(contender, times, () -> Sections.visit(file), "visited");
  }

  private void see(String name, String path, String member) throws Exception {
    try (GroupMember looker = new GroupMember(client, path, name)) {
      looker.start();
      while (!looker.getCurrentMembers().containsKey(member)) Thread.sleep(1);
    }
    Answers.say("seen", name);
  }

  private String holder(String path) throws Exception {
    return new InterProcessMutex(client, path).getParticipantNodes().iterator().next();
  }

  private void revoke(String name, String path) throws Exception {
    String holder = holder(path);
    Revoker.attemptRevoke(client, holder);
    while (client.checkExists().forPath(holder) != null) Thread.sleep(1);
    Answers.say("gone", name);
  }
}
