// SPDX-License-Identifier: Apache-2.0
#include "recipe/value/fate.h"

namespace zklock::recipe {

namespace {

// If the data is what we wanted, it does not matter which client wrote it, because any client may replace it.
Fate fate_of_set(const Sight& before, const Sight& after) {
  if (after.exists && after.is_ours.value_or(false)) {
    const bool same = before.exists && before.created == after.created && before.version == after.version;
    return same ? Fate::not_done : Fate::done;
  }
  if (!before.exists && !after.exists) return before.around == after.around ? Fate::not_done : Fate::unknown;
  if (!before.exists || !after.exists || before.created != after.created) return Fate::unknown;
  return before.version == after.version ? Fate::not_done : Fate::unknown;
}

// Another client may have written the same data at the same version.
Fate fate_of_set_version(int32_t version, const Sight& before, const Sight& after) {
  if (!before.exists || !after.exists || before.created != after.created) return Fate::unknown;
  if (after.version <= version) return Fate::not_done;
  return after.version == version + 1 && !after.is_ours.value_or(true) ? Fate::not_done : Fate::unknown;
}

Fate fate_of_create(const Sight& before, const Sight& after) {
  if (before.exists && after.exists && before.created == after.created) return Fate::not_done;
  if (before.exists || after.exists) return Fate::unknown;
  return before.around == after.around ? Fate::not_done : Fate::unknown;
}

}  // namespace

Fate fate_of(ChangeKind kind, int32_t version, const Sight& before, const Sight& after) {
  const bool is_same = before.exists && after.exists && before.created == after.created;
  switch (kind) {
    case ChangeKind::set: return fate_of_set(before, after);
    case ChangeKind::set_version: return fate_of_set_version(version, before, after);
    case ChangeKind::create: return fate_of_create(before, after);
    case ChangeKind::remove: return is_same ? Fate::not_done : Fate::done;
    case ChangeKind::remove_version: return is_same ? Fate::not_done : Fate::unknown;
  }
  return Fate::unknown;
}

}  // namespace zklock::recipe
