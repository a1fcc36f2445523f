// SPDX-License-Identifier: Apache-2.0

/** A lock of a peer's, which is used by one thread: Curator's locks belong to threads. */
interface Contender {
  /** Whether it is held now; without `wait` only if that is at once. */
  boolean take(boolean wait) throws Exception;

  void release() throws Exception;
}
