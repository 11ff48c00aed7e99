// Each file that prints into a buffer would compile fmt's formatter again, for five seconds, or thirteen under
// AddressSanitizer. base/formatter.cc has it for all. The precompiled headers include this; no file needs to.
#pragma once

#include <fmt/format.h>

#if FMT_VERSION / 10000 == 9
extern template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view,
                                                   fmt::basic_format_args<FMT_BUFFER_CONTEXT(char)>,
                                                   fmt::detail::locale_ref);
#endif
