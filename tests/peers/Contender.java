// SPDX-License-Identifier: Apache-2.0

/** Takes and releases a peer's lock, in one thread, because Curator's locks belong to threads. */
interface Contender {
  /** Takes it, without `wait` only if that is at once. Returns whether it is held now. */
  boolean take(boolean wait) throws Exception;

  void release() throws Exception;
}
