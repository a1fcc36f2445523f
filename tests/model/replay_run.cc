// SPDX-License-Identifier: Apache-2.0
#include "replay_run.h"

namespace zklock::model {

ReplayWish files_to_replay(int argc, char** argv) {
  ReplayWish wish;
  if (argc < 3) return wish;
  wish.refuse = std::strcmp(argv[1], "--refuse") == 0;
  if (wish.refuse || std::strcmp(argv[1], "--replay") == 0) wish.files.assign(argv + 2, argv + argc);
  return wish;
}

}  // namespace zklock::model
