// Evaluation: what a figure's measurements come to: medians and spreads point by point, the paper's numbers
// beside them, and whether the paper's orderings hold.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "experiments/plan.h"
#include "experiments/runner.h"

namespace mneme {

// {"name","paper","title","paper_says","scaled","panels":[{"name","title","chart","x","xs","unit","log_y",
// "series":[{"name","simulated","points":[{"x","median","low","high","min","max","runs","command"}]}],
// "paper":[...]}],
// "claims":[{"says","holds","apart","found","reason"}],"commands":[...]}. A timeline's series has "seconds"
// and "checkpoints" in place of points.
//
// "low" and "high" are the median's 95% interval (measurement/statistics/bootstrap.h), null with one run.
// What was interrupted lacks the points that have no run, and is "partial"; "measured" and "planned" count
// the commands' rounds.
//
// `holds` is null where there is nothing to compare, as with one core; `apart`: every run of one side lies
// beyond all of the other's, so that it is no accident of the medians.
Result<nlohmann::ordered_json> evaluate(const Plan& plan, const Measurements& measured);

// Fails where a value that the plan reads of this command is not in its JSON: all of them, with the places of
// the file that asks for them, if one does.
Result<void> check_values(const Plan& plan, const std::string& command, const nlohmann::ordered_json& result);
// Where a file has the command, or nothing.
std::string place_of_command(const Plan& plan, const std::string& command);

// figure,panel,series,x,round,value,unit,command,seed: a line a run.
std::string csv_of(const nlohmann::ordered_json& figure);

// 1,234,567; 12.3; 0.0123: three digits, or all in front of the point.
std::string number_text(double value);

}  // namespace mneme
