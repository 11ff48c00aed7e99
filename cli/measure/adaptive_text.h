// Adaptive text: what a run with --log adaptive chose, in words and as JSON.
#pragma once

#include <string>

#include "cli/output/output.h"
#include "procedures/binder/program.h"
#include "recovery/adaptive/adaptive_logging.h"

namespace mneme {

std::string adaptive_text(const Program& program, const AdaptiveReport& report);
Json adaptive_json(const Program& program, const AdaptiveReport& report);

}  // namespace mneme
