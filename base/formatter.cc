// fmt's formatter, compiled once for all files (cmake/formatter_of_library.h). The library has it too, but
// was built by GCC, and Clang gives this template another symbol.
#include <fmt/format.h>

template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view,
                                            fmt::basic_format_args<FMT_BUFFER_CONTEXT(char)>,
                                            fmt::detail::locale_ref);
