// SPDX-License-Identifier: Apache-2.0
// How a thing is shown: a list of fields. Each is a column of a table, a member of a JSON object, or both, so a new one
// is one line.
#pragma once

#include "base/text.h"
#include "command/cli/table.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace zklock::command {

// A number, a text, or neither: what is not known is "-" in a table, and no member of a JSON object.
using FieldValue = std::variant<std::monostate, int64_t, std::string>;

// Returns a text that is not known if it is empty.
inline FieldValue known(std::string text) {
  return text.empty() ? FieldValue() : FieldValue(std::move(text));
}

template <typename T>
struct Field {
  std::string_view column;  // its head; "": none
  std::string_view member;  // of the JSON object; "": none
  FieldValue (*value)(const T& shown);
  int leaves = 0;        // columns leave a narrow terminal in this order, 1 first; 0: it stays
  bool shrinks = false;  // its cells may be cut there
  bool whole = false;    // elsewhere its cells are as long as they are, because they say what the line is about
};

// Returns the value as a cell: printable, and of a length that leaves room for others.
inline std::string cell_of(const FieldValue& value) {
  constexpr size_t kLongest = 80;
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::to_string(*number);
  const auto* text = std::get_if<std::string>(&value);
  return text ? shorten(printable(*text), kLongest) : "";
}

// Returns the fields with these columns, in their order.
template <typename T>
std::vector<Field<T>> select(std::span<const Field<T>> fields, const std::vector<std::string_view>& columns) {
  std::vector<Field<T>> selected;
  for (const std::string_view column : columns) {
    for (const Field<T>& field : fields) {
      if (field.column == column) selected.push_back(field);
    }
  }
  return selected;
}

// Returns what gives way on a narrow terminal.
template <typename T>
Table::Yielding yielding_of(std::span<const Field<T>> fields) {
  std::vector<Field<T>> leaving;
  Table::Yielding yielding;
  for (const Field<T>& field : fields) {
    if (!field.column.empty() && field.leaves > 0) leaving.push_back(field);
    if (!field.column.empty() && field.shrinks) yielding.shortened.emplace_back(field.column);
  }
  std::ranges::sort(leaving, {}, &Field<T>::leaves);
  for (const Field<T>& field : leaving) yielding.left_out.emplace_back(field.column);
  return yielding;
}

// Returns a table with the columns of the fields and a line for each of `all`.
template <typename T>
Table table_of(std::span<const Field<T>> fields, const std::vector<T>& all) {
  std::vector<std::string> heads;
  for (const Field<T>& field : fields) {
    if (!field.column.empty()) heads.emplace_back(field.column);
  }
  Table table(heads);
  for (const T& one : all) {
    std::vector<std::string> cells;
    for (const Field<T>& field : fields) {
      if (field.column.empty()) continue;
      const FieldValue value = field.value(one);
      const auto* text = std::get_if<std::string>(&value);
      cells.push_back(field.whole && text ? *text : cell_of(value));
    }
    table.add(cells);
  }
  return table;
}

// Returns such a table as text that fits `columns`, if given; "" if `all` is empty.
template <typename T>
std::string fitted_table(std::span<const Field<T>> fields, const std::vector<T>& all, std::optional<size_t> columns) {
  if (all.empty()) return "";
  Table table = table_of(fields, all);
  if (columns) table.fit(*columns, yielding_of(fields));
  return table.text();
}

// Adds the members that are known. A template, so that only files that make JSON include its library.
template <typename Json, typename T>
void put_members(Json& json, std::span<const Field<T>> fields, const T& shown) {
  for (const Field<T>& field : fields) {
    if (field.member.empty()) continue;
    const FieldValue value = field.value(shown);
    if (const auto* number = std::get_if<int64_t>(&value)) json[std::string(field.member)] = *number;
    if (const auto* text = std::get_if<std::string>(&value)) json[std::string(field.member)] = *text;
  }
}

}  // namespace zklock::command
