// SPDX-License-Identifier: Apache-2.0
// The sections of page.h.
#include "base/text.h"
#include "base/time.h"
#include "command/child/note.h"
#include "command/cli/table.h"
#include "command/top/page.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;
using host::Colour;
using recipe::GroupFigures;
using recipe::LockFigures;
using recipe::QueueFigures;

constexpr Duration kLongWait = 1min;
constexpr Duration kTooLongWait = 1h;
constexpr Duration kJustNow = 1min;

constexpr Colour kColours[] = {Colour::none, Colour::yellow, Colour::red};  // by the attention that a row needs

constexpr size_t kNarrow = 40;      // columns; a screen with fewer has room for little but paths
constexpr size_t kLeastOfPath = 8;  // on such a screen
constexpr size_t kRoomForNumber = 8;

// A row, and what it is sorted by.
struct Ranked {
  std::string path;
  std::vector<std::string> cells;
  Colour colour = Colour::none;
  int grade = 0;      // the rows that need most attention have the highest
  double weight = 0;  // within a grade
  double size = 0;
  Duration age{};
};

struct Shape {
  TopKind kind;
  std::vector<std::string> heads;
  Table::Yielding yielding;
};

const Shape kLocks{TopKind::lock,
                   {"LOCK", "HOLDER", "HELD", "WAIT", "LONGEST"},
                   {{"HOLDER", "HELD", "LONGEST", "WAIT"}, {"LOCK", "HOLDER"}}};
const Shape kQueues{TopKind::queue,
                    {"QUEUE", "ITEMS", "WORK", "DEAD", "IN/S", "OUT/S", "OLDEST"},
                    {{"WORK", "OUT/S", "IN/S", "OLDEST", "DEAD", "ITEMS"}, {"QUEUE"}}};
const Shape kGroups{TopKind::group, {"GROUP", "MEMBERS", "CHANGED"}, {{"CHANGED", "MEMBERS"}, {"GROUP"}}};

// Returns 0 if the moment is not known.
Duration age_at(int64_t moment_ms, int64_t now_ms) {
  return moment_ms == 0 ? Duration::zero() : std::max(span_between(moment_ms, now_ms), Duration::zero());
}

std::string age_cell(int64_t moment_ms, int64_t now_ms) {
  return moment_ms == 0 ? "" : format_duration(age_at(moment_ms, now_ms));
}

std::string rate_of(const std::optional<double>& rate) {
  if (!rate) return "";
  return *rate == 0 || *rate >= 100 ? fmt::format("{:.0f}", *rate) : fmt::format("{:.1f}", *rate);
}

// Returns "web1 nightly", with a label "web1 nightly 'text'"; for another program, what it has written.
std::string name_of_holder(const std::string& data) {
  const auto note = parse_note(data);
  if (!note || note->host.empty()) return data.empty() ? "?" : describe_note(data);
  return fmt::format("{}{}{}{}", note->host, note->command.empty() ? "" : " ", note->command,
                     note->label.empty() ? "" : fmt::format(" '{}'", note->label));
}

std::string holder_of(const LockFigures& lock) {
  if (lock.holders == 0) return "";
  const std::string first = name_of_holder(lock.holder);
  return lock.holders == 1 ? first : fmt::format("{} and {} more", first, lock.holders - 1);
}

Ranked ranked(const LockFigures& lock, int64_t now_ms) {
  const bool waited = lock.waiters > 0;
  const Duration wait = waited ? age_at(lock.waited_ms, now_ms) : Duration::zero();
  const Duration held = age_at(lock.held_ms, now_ms);
  const int urgency = wait >= kTooLongWait ? 2 : wait >= kLongWait ? 1 : 0;
  return {.path = lock.path,
          .cells = {holder_of(lock), age_cell(lock.held_ms, now_ms), fmt::to_string(lock.waiters),
                    waited ? age_cell(lock.waited_ms, now_ms) : ""},
          .colour = kColours[urgency],
          .grade = waited ? 1 : 0,
          .weight = seconds_of(waited ? wait : held),
          .size = static_cast<double>(lock.holders + lock.waiters),
          .age = held};
}

Ranked ranked(const QueueFigures& queue, int64_t now_ms) {
  const bool dead = queue.dead > 0;
  const bool grows = queue.in && queue.out && *queue.in > *queue.out;
  const int grade = dead ? 2 : grows ? 1 : 0;
  return {.path = queue.path,
          .cells = {fmt::format("{}{}", queue.estimated ? "~" : "", queue.items),
                    fmt::format("{}{}", queue.in_work, queue.more_in_work ? "+" : ""), fmt::to_string(queue.dead),
                    rate_of(queue.in), rate_of(queue.out), age_cell(queue.oldest_ms, now_ms)},
          .colour = kColours[grade],
          .grade = grade,
          .weight = static_cast<double>(dead ? queue.dead : queue.items),
          .size = static_cast<double>(queue.items),
          .age = age_at(queue.oldest_ms, now_ms)};
}

Ranked ranked(const GroupFigures& group, int64_t now_ms) {
  const Duration age = age_at(group.changed_ms, now_ms);
  const bool just_changed = group.changed_ms != 0 && age < kJustNow;
  const int grade = group.members == 0 ? 2 : just_changed ? 1 : 0;
  return {.path = group.path,
          .cells = {fmt::to_string(group.members), age_cell(group.changed_ms, now_ms)},
          .colour = kColours[grade],
          .grade = grade,
          .weight = -seconds_of(age),
          .size = static_cast<double>(group.members),
          .age = age};
}

// Rows of the same rank stay in the order of their paths.
void sort(std::vector<Ranked>& rows, TopSort by) {
  const auto before = [by](const Ranked& a, const Ranked& b) {
    switch (by) {
      case TopSort::attention: return a.grade != b.grade ? a.grade > b.grade : a.weight > b.weight;
      case TopSort::name: return a.path < b.path;
      case TopSort::size: return a.size > b.size;
      case TopSort::age: return a.age > b.age;
    }
    return false;
  };
  std::ranges::stable_sort(rows, before);
}

// On a narrow screen, the end of a path is kept, because it says more than the beginning.
std::string path_cell(const std::string& path, size_t columns) {
  const std::string text = printable(path);
  if (columns >= kNarrow) return text;
  const size_t most = std::max(kLeastOfPath, columns - std::min(columns, kRoomForNumber));
  const auto characters = decode_utf8(text);
  if (!characters || characters->size() <= most) return text;
  size_t begin = text.size();
  for (size_t kept = 0; kept + 1 < most && begin > 0;) {
    --begin;
    if ((static_cast<unsigned char>(text[begin]) & 0xc0) != 0x80) ++kept;
  }
  return "…" + text.substr(begin);
}

template <typename Figures>
void add_section(std::vector<TopSection>& sections, const Shape& shape, const std::vector<Figures>& all,
                 const TopView& view, int64_t now_ms) {
  std::vector<Ranked> rows;
  for (const Figures& one : all) {
    if (one.path.find(view.filter) != std::string::npos) rows.push_back(ranked(one, now_ms));
  }
  if (rows.empty()) return;
  sort(rows, view.sort);
  Table table(shape.heads);
  for (Ranked& row : rows) {
    row.cells.insert(row.cells.begin(), path_cell(row.path, view.columns));
    table.add(row.cells);
  }
  table.fit(view.columns, shape.yielding);
  const std::string text = table.text();
  const std::vector<std::string_view> lines = split(text, '\n');
  TopSection section{shape.kind, std::string(lines.front()), {}};
  for (size_t i = 0; i < rows.size(); ++i) {
    section.rows.push_back({rows[i].path, std::string(lines[i + 1]), rows[i].colour});
  }
  sections.push_back(std::move(section));
}

template <typename All, typename Number>
int64_t sum_of(const All& all, Number number) {
  return std::accumulate(all.begin(), all.end(), int64_t{0}, [&](int64_t sum, const auto& one) {
    return sum + static_cast<int64_t>(std::invoke(number, one));
  });
}

}  // namespace

const char* name_of(TopSort sort) {
  constexpr const char* kNames[] = {"attention", "name", "size", "age"};
  return kNames[static_cast<size_t>(sort)];
}

TopSort next(TopSort sort) {
  return sort == TopSort::age ? TopSort::attention : static_cast<TopSort>(static_cast<int>(sort) + 1);
}

std::vector<TopSection> sections_of(const recipe::OverviewFigures& figures, const TopView& view, int64_t now_ms) {
  std::vector<TopSection> sections;
  add_section(sections, kLocks, figures.locks, view, now_ms);
  add_section(sections, kQueues, figures.queues, view, now_ms);
  add_section(sections, kGroups, figures.groups, view, now_ms);
  return sections;
}

std::string sums_of(const recipe::OverviewFigures& figures) {
  const auto& locks = figures.locks;
  const auto& queues = figures.queues;
  const auto& groups = figures.groups;
  const bool estimated = std::ranges::any_of(queues, &QueueFigures::estimated);
  return fmt::format("{} ({} held, {} waited for), {} ({}{}, {} dead), {} ({})", counted(locks.size(), "lock"),
                     sum_of(locks, [](const LockFigures& lock) { return lock.holders > 0; }),
                     sum_of(locks, [](const LockFigures& lock) { return lock.waiters > 0; }),
                     counted(queues.size(), "queue"), estimated ? "~" : "",
                     counted(sum_of(queues, &QueueFigures::items), "item"), sum_of(queues, &QueueFigures::dead),
                     counted(groups.size(), "group"), counted(sum_of(groups, &GroupFigures::members), "member"));
}

std::string summary_of(const recipe::OverviewFigures& figures, const std::string& path) {
  if (!figures.exists) return fmt::format("there is no node {}", printable(path));
  std::string text = sums_of(figures);
  if (figures.too_large) text += "; not all nodes: name a PATH";
  if (figures.behind) text += "; not all looked at yet";
  return text;
}

}  // namespace zklock::command
