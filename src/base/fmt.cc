// SPDX-License-Identifier: Apache-2.0
// The compiled part of the fmt library, in one file, for a static build. Debian has it as a shared library only, and
// with fmt's header-only form each file would compile it again. The templates are those that fmt/format.h declares
// extern.
#include <fmt/format-inl.h>

template FMT_API auto fmt::detail::thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto fmt::detail::decimal_point_impl(locale_ref) -> char;
