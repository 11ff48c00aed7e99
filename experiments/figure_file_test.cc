// Goal: a file declares what is run, and each mistake in one is told where it stands, with what would be
// right.
//
// Method: plans of small files, command by command; files with one mistake each, and its whole message; one
// file with many, which are all told; files that would overflow a parser.
#include "experiments/figure_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/testing/test_directory.h"
#include "base/testing/test_refusal.h"
#include "experiments/axes.h"
#include "experiments/plan.h"
#include "measurement/toml/toml_file.h"

namespace mneme {
namespace {

const ExperimentScale kTwoCores{2, false};

std::string right_command(const std::vector<std::string>& words) {
  return std::ranges::find(words, "--wrong") == words.end() ? "" : "mneme run has no option --wrong";
}

Result<Figure> declared(const std::string& text, const std::string& path = "folder/mine.toml") {
  return figure_in(text, path, kTwoCores, right_command);
}

const std::string kHead = "title = \"t\"\n";
const std::string kAxes = "[axes]\nthreads = [1, 2]\n";
const std::string kPlot = "[[plots]]\ntitle = \"p\"\nx = \"threads\"\ny = \"rate\"\n";
const std::string kRun = "commands = [\"run tpcb --threads {threads}\"]\n";
// Right, of which the tests below change a part.
const std::string kWhole = kHead + kRun + kAxes + kPlot;

std::vector<std::string> commands_of(const std::string& text, const ExperimentScale& scale = kTwoCores) {
  const Result<Figure> figure = declared(text);
  EXPECT_TRUE(figure.ok()) << figure.error().message;
  return plan_of(*figure, scale).commands;
}

TEST(FigureFile, DeclaresAFigure) {
  const Result<Figure> figure = declared(kWhole);
  ASSERT_TRUE(figure.ok()) << figure.error().message;
  EXPECT_EQ(figure->name, "mine");
  EXPECT_EQ(figure->title, "t");
  EXPECT_EQ(figure->repeats, 3u);
  EXPECT_EQ(figure->seed, 1u);
  EXPECT_EQ(figure->declaration, kWhole);
  const Plan plan = plan_of(*figure, kTwoCores);
  EXPECT_EQ(plan.commands, (std::vector<std::string>{"run tpcb --threads 1 --seed {seed}",
                                                     "run tpcb --threads 2 --seed {seed}"}));
  ASSERT_EQ(plan.panels.size(), 1u);
  EXPECT_EQ(plan.panels[0].xs, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(plan.panels[0].definition->chart, Chart::kLines);
  ASSERT_EQ(plan.panels[0].series.size(), 1u);
  EXPECT_EQ(plan.panels[0].series[0].name, "p");
  EXPECT_EQ(plan.panels[0].series[0].points[1].place, "folder/mine.toml:8:5");
}

TEST(FigureFile, AxesWithNamesRangesAndQuickValues) {
  const std::string text =
      kHead + "commands = \"run {load} --threads {threads} --duration {seconds} --seed 7\"\n" +
      "[axes]\nthreads = \"1..cores\"\nseconds = 0.5\n[axes.load]\nZ = \"tpcb {kind}\"\n" +
      "A = \"tatp\"\n[axes.kind]\nlogged = \"--log command\"\n[quick]\nseconds = 0.1\n" + kPlot +
      "series = \"load\"\n";
  EXPECT_EQ(commands_of(text),
            (std::vector<std::string>{"run tpcb --log command --threads 1 --duration 0.5 --seed 7",
                                      "run tpcb --log command --threads 2 --duration 0.5 --seed 7",
                                      "run tatp --threads 1 --duration 0.5 --seed 7",
                                      "run tatp --threads 2 --duration 0.5 --seed 7"}));
  // A quick look takes the outer points.
  EXPECT_EQ(commands_of(text, {8, true}),
            (std::vector<std::string>{"run tpcb --log command --threads 1 --duration 0.1 --seed 7",
                                      "run tpcb --log command --threads 8 --duration 0.1 --seed 7",
                                      "run tatp --threads 1 --duration 0.1 --seed 7",
                                      "run tatp --threads 8 --duration 0.1 --seed 7"}));
  const Result<Figure> figure = declared(text);
  const Plan plan = plan_of(*figure, kTwoCores);
  EXPECT_EQ(plan.panels[0].series[0].name, "Z");
  EXPECT_EQ(plan.panels[0].series[1].name, "A");
}

TEST(FigureFile, CommandsOfAPointShareADirectory) {
  const std::string text =
      kHead +
      "commands = [\"run tpcb --threads {threads}\", { name = \"first\", command = \"recover {dir}\" },\n" +
      "  { name = \"second\", command = \"recover {dir} --scheme clr\" }]\n" + kAxes +
      "[[plots]]\ntitle = \"p\"\nx = \"threads\"\ny = { a = \"first.total_seconds\", b = \"run.seconds\" }\n";
  const std::vector<std::string> commands = commands_of(text);
  ASSERT_EQ(commands.size(), 2u);
  const std::vector<PlannedStep> steps = steps_of(commands[1]);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].name, "run");
  EXPECT_EQ(steps[0].command, "run tpcb --threads 2 --seed {seed}");
  EXPECT_EQ(steps[2].name, "second");
  EXPECT_EQ(steps[2].command, "recover {dir} --scheme clr");
  EXPECT_EQ(
      typed_text(commands[0]),
      "mneme run tpcb --threads 1 --seed {seed}; mneme recover {dir}; mneme recover {dir} --scheme clr");
}

TEST(FigureFile, SeriesWithCommandsOfTheirOwnAndChosenValues) {
  const std::string text =
      kHead + "[axes]\nthreads = [1, 2]\nscale = [1, 4]\n" +
      "[[plots]]\ntitle = \"p\"\nx = \"threads\"\ny = \"rate\"\nwhere = { scale = 4 }\n" +
      "[[plots.series]]\nname = \"b\"\ncommands = \"run tpcb --scale {scale} --threads {threads}\"\n" +
      "[[plots.series]]\nname = \"t\"\ncommands = \"run tatp --threads {threads}\"\n" +
      "against = \"run tatp --log off --threads {threads}\"\n";
  EXPECT_EQ(
      commands_of(text),
      (std::vector<std::string>{
          "run tpcb --scale 4 --threads 1 --seed {seed}", "run tpcb --scale 4 --threads 2 --seed {seed}",
          "run tatp --threads 1 --seed {seed}", "run tatp --log off --threads 1 --seed {seed}",
          "run tatp --threads 2 --seed {seed}", "run tatp --log off --threads 2 --seed {seed}"}));
}

struct Mistake {
  std::string text;
  std::string told;
};

// What the papers' figures are made of.
const std::string kPaperFigure = R"(
title = "t"
paper = "A paper"
paper_says = ["""One thing,
  in two lines.""", "Another."]
scaled = """
To two
cores."""
in_tour = true
seed = "off"
commands = "recover @calls --threads {threads} {scheme}"

[databases]
calls = "run tpcc --warehouses {warehouses} --transactions 5"
spare-1 = "run tpcb"

[axes]
warehouses = 3
threads = "1..cores"
many = [1, 8]
over = "time"
[axes.scheme]
plain = ""
other = "--scheme clr"
[quick]
warehouses = 1

[[plots]]
name = "points"
title = "p"
x = "threads"
y = "a"
series = "scheme"
against = "recover @spare-1"
paper_values = [{ series = "plain", x = 40, value = 2.5 }, { series = "other", x = "peak", value = 3 }]

[[plots]]
name = "own"
title = "p"
x = "threads"
x_title = "threads or cores"
where = { scheme = "other" }
[[plots.series]]
name = "here"
y = "a"
[[plots.series]]
name = "there"
x = "many"
commands = "recover @calls --simulate-cores {many.all}"
y = "list.{many.index}.seconds"
simulated = true

[[plots]]
name = "time"
title = "p"
chart = "timeline"
commands = "run tpcb --log-server {servers} {scheme}"
series = "scheme"
y = "throughput_per_second"

[[plots]]
name = "one"
title = "p"
x = "over"
where = { scheme = "plain" }
commands = "run tpcb --log-server {server} {scheme}"
y = { one = "a" }

[[claims]]
says = "s"
plot = "points"
left = { series = "plain", x = "{cores}" }
is = "above"
right = { series = "*", x = "{cores}" }
reason = """Two
lines."""
)";

TEST(FigureFile, WhatPapersFiguresAreMadeOf) {
  const Result<Figure> figure = declared(kPaperFigure);
  ASSERT_TRUE(figure.ok()) << figure.error().message;
  EXPECT_EQ(figure->paper, "A paper");
  EXPECT_EQ(figure->paper_says, (std::vector<std::string>{"One thing, in two lines.", "Another."}));
  EXPECT_EQ(figure->scaled, "To two cores.");
  EXPECT_EQ(figure->claims[0].reason, "Two lines.");
  EXPECT_TRUE(figure->in_tour);
  const Plan plan = plan_of(*figure, kTwoCores);
  // Without seeds, and with one space where nothing stands for a name.
  EXPECT_EQ(plan.commands,
            (std::vector<std::string>{
                "recover @calls --threads 1", "recover @spare-1", "recover @calls --threads 2",
                "recover @calls --threads 1 --scheme clr", "recover @calls --threads 2 --scheme clr",
                "recover @calls --simulate-cores 1,8", "run tpcb --log-server {servers}",
                "run tpcb --log-server {servers} --scheme clr", "run tpcb --log-server {server}"}));
  ASSERT_EQ(plan.databases.size(), 2u);
  EXPECT_EQ(plan.databases[0].command, "run tpcc --warehouses 3 --transactions 5");
  EXPECT_EQ(plan_of(*figure, {2, true}).databases[0].command, "run tpcc --warehouses 1 --transactions 5");
  const PlannedPanel& own = plan.panels[1];
  EXPECT_EQ(own.xs, (std::vector<std::string>{"1", "2", "8"}));
  EXPECT_EQ(own.definition->x, "threads or cores");
  EXPECT_FALSE(own.series[0].simulated);
  EXPECT_TRUE(own.series[1].simulated);
  EXPECT_EQ(own.series[1].points[1].x, "8");
  EXPECT_EQ(own.series[1].points[1].value, "list.1.seconds");
  EXPECT_EQ(plan.panels[0].definition->paper[1].x, "peak");
  EXPECT_EQ(plan.panels[2].definition->chart, Chart::kTimeline);
  EXPECT_EQ(plan.panels[2].definition->x, "seconds");
  EXPECT_EQ(plan.panels[3].series[0].points[0].x, "time");
}

TEST(FigureFile, AFigureThatIsNotHere) {
  const Result<Figure> figure = declared(kHead + "not_here = \"No such machine.\"\n");
  ASSERT_TRUE(figure.ok()) << figure.error().message;
  EXPECT_EQ(figure->not_here, "No such machine.");
  EXPECT_TRUE(figure->panels.empty());
  EXPECT_TRUE(plan_of(*figure, kTwoCores).commands.empty());
}

TEST(FigureFile, AQuickLookTakesAllValuesThatHaveNames) {
  const std::string text = kHead + kRun + "[axes.threads]\none = 1\ntwo = 2\nthree = 3\n" + kPlot;
  EXPECT_EQ(commands_of(text, {2, true}).size(), 3u);
  EXPECT_EQ(commands_of(
                replaced(text, "[axes.threads]\none = 1\ntwo = 2\nthree = 3", "[axes]\nthreads = [1, 2, 3]"),
                {2, true})
                .size(),
            2u);
}

TEST(FigureFile, TellsMistakesInWhatPapersFiguresAreMadeOf) {
  const auto changed = [](const std::string& from, const std::string& to) {
    EXPECT_NE(kPaperFigure.find(from), std::string::npos) << from;
    return replaced(kPaperFigure, from, to);
  };
  const Mistake mistakes[] = {
      {changed("in_tour = true", "in_tour = 1"),
       ":9:11: in_tour must be true or false, and is a whole number"},
      {changed("seed = \"off\"", "seed = \"no\""), ":10:8: seed must be a whole number, and is a text"},
      {changed("\"Another.\"]", "1]"), "paper_says must be a text, and is a whole number"},
      {changed("@calls --threads", "@call --threads"),
       ":11:12: \"recover @call --threads 1\": @call is none of [databases]; did you mean calls? There are: "
       "calls, "
       "spare-1"},
      {changed("against = \"recover @spare-1\"\n", ""),
       ":15:11: the database spare-1 is not used: put @spare-1 into a command that recovers it, or remove "
       "it"},
      {changed("spare-1 = \"run tpcb\"", "spare-1 = \"run tpcb --threads {threads}\""),
       ":15:11: threads has several values, and a database is made once"},
      {changed("spare-1 = \"run tpcb\"", "spare-1 = \"run tpcb --seed {seed}\""),
       ":15:11: a database is made once for all points and rounds, and can't depend on {seed}"},
      {changed("spare-1 = \"run tpcb\"", "spare-1 = \"recover @calls\""),
       ":15:11: a database is made by one command, which begins with run"},
      {changed("spare-1 = \"run tpcb\"", "spare-1 = \"run tpcb --wrong\""),
       ":15:11: \"run tpcb --wrong\": mneme run has no option --wrong"},
      {changed("spare-1 = \"run tpcb\"", "spare-1 = \"run tpcb\"\nA = \"run tpcb\""),
       ":16:1: a database can't be called \"A\": small letters, digits"},
      {changed("[databases]", "[[databases]]"), "databases must be a table, and is a list"},
      {changed("over = \"time\"", "over = [\"time\", \"place\"]"),
       "the plot is drawn by over, which stands in none of its commands"},
      {changed("x = \"many\"", "x = \"manny\""), "x names an axis, and manny is none; did you mean many?"},
      {changed("{many.all}", "{many.al}"), "{many.al} is no axis; there are: warehouses, threads, many"},
      {changed("simulated = true", "simulated = \"yes\""), "simulated must be true or false, and is a text"},
      {changed("series = \"plain\", x = 40", "series = \"plan\", x = 40"),
       "the plot points has no series \"plan\", of which paper_values has a number; did you mean plain?"},
      {changed("x = 40, value = 2.5", "x = 40, value = \"a\""),
       "a number of the paper's needs series, x and value, which is a number"},
      {changed("x = 40, value = 2.5", "x = 40, value = inf"),
       "a number of the paper's needs series, x and value, which is a number"},
      {changed("x = 40, value = 2.5", "x = 40, values = 2.5"),
       "a number of the paper's has no key \"values\"; did you mean value?"},
      {changed("y = \"throughput_per_second\"", "y = \"a + b\""),
       "y of a timeline is the name of a list, a number a second, and no expression"},
      {changed("chart = \"timeline\"", "chart = \"timeline\"\nx = \"threads\""),
       "a timeline shows the seconds of a run: leave x, against and paper_values out"},
      {changed("plot = \"points\"\nleft = { series = \"plain\", x = \"{cores}\" }",
               "plot = \"time\"\nleft = { series = \"plain\" }"),
       "a claim compares points, and a timeline has none"},
      {changed("x = \"{cores}\" }\nis", "x = \"{core}\" }\nis"), "threads has no value {core}"},
      {changed("seed = \"off\"", "not_here = \"No.\""),
       "not_here says that nothing is measured: leave plots out"},
  };
  for (const Mistake& mistake : mistakes) {
    const Result<Figure> figure = declared(mistake.text);
    ASSERT_FALSE(figure.ok()) << mistake.told;
    EXPECT_NE(figure.error().message.find(mistake.told), std::string::npos)
        << "told: " << figure.error().message << "\nand not: " << mistake.told;
  }
}

TEST(FigureFile, Claims) {
  const Result<Figure> figure = declared(
      kWhole + "[[claims]]\nsays = \"more\"\nleft = { x = \"last\" }\nis = \"above\"\ntimes = 1.5\n" +
      "right = { x = 1 }\n");
  ASSERT_TRUE(figure.ok()) << figure.error().message;
  ASSERT_EQ(figure->claims.size(), 1u);
  const FigureClaim& claim = figure->claims[0];
  EXPECT_EQ(claim.panel, "plot-1");
  EXPECT_EQ(claim.left.series, "p");
  EXPECT_EQ(claim.left.x, "last");
  EXPECT_EQ(claim.right.x, "1");
  EXPECT_EQ(claim.times, 1.5);
}

TEST(FigureFile, TellsEachMistakeWithItsPlace) {
  const std::string two = "commands = [\"run tpcb --threads {threads}\", \"recover {dir}\"]\n";
  const Mistake mistakes[] = {
      {"title = ", ":1:9: not TOML: "},
      {kWhole + "[[plots]]\ntitle = 1\n", ":10:9: title must be a text, and is a whole number"},
      {"titel = \"t\"\n" + kWhole,
       ":1:1: an experiment has no key \"titel\"; did you mean title? There are: title, asks"},
      {kWhole + "unti = \"s\"\n", ":9:1: a plot has no key \"unti\"; did you mean unit?"},
      {kRun + kAxes + kPlot, ":1:1: an experiment needs title = \"...\""},
      {kHead + kRun + kPlot, "an experiment needs [axes]"},
      {kHead + kRun + kAxes, "an experiment needs a plot: [[plots]], with title, x and y"},
      {"repeats = 0\n" + kWhole, ":1:11: repeats is 0, and must be 1 to 1000"},
      {"seed = -1\n" + kWhole, ":1:8: seed is -1, and must be 0 to "},
      {kHead + kRun + kAxes + "spare = 1\n" + kPlot,
       ":5:1: the axis spare is not used: put {spare} into a command where its value belongs, or remove it"},
      {kHead + kRun + "[axes]\nthreads = []\n" + kPlot, ":4:11: threads has no value"},
      {kHead + kRun + "[axes]\nthreads = [1, 1]\n" + kPlot, ":4:15: threads has the value 1 twice"},
      {kHead + kRun + "[axes]\nthreads = [true]\n" + kPlot,
       ":4:12: the values of threads are numbers or texts, and this is true or false"},
      {kHead + kRun + "[axes]\nthreads = [inf]\n" + kPlot,
       ":4:12: the values of threads are numbers or texts"},
      {kHead + kRun + "[axes]\nthreads = [\"\"]\n" + kPlot,
       ":4:12: a value of threads must be a text of one line, not empty"},
      {kHead + kRun + "[axes]\nthreads = 1\nseed = 1\n" + kPlot, ":5:1: an axis can't be called \"seed\""},
      {kHead + kRun + kAxes + "[quick]\nthread = 1\n" + kPlot,
       ":6:1: [quick], which gives axes other values, has no key \"thread\"; did you mean threads?"},
      {kHead + "commands = \"run tpcb --threads {thread}\"\n" + kAxes + kPlot,
       ":2:12: {thread} is no axis; did you mean threads? There are: threads, cores, seed, dir, server, "
       "servers"},
      {kHead + "commands = \"run tpcb --threads {threads\"\n" + kAxes + kPlot,
       ":2:12: \"run tpcb --threads {threads\" has a brace that is not closed, or not opened"},
      {kHead + "commands = []\n" + kAxes + kPlot, ":2:12: commands has none"},
      {kHead + "commands = [1]\n" + kAxes + kPlot, ":2:13: a command must be a text, and is a whole number"},
      {kHead + "commands = \"\"\n" + kAxes + kPlot, ":2:12: a command must be a text of one line, not empty"},
      {kHead + "commands = \"follow {threads}\"\n" + kAxes + kPlot,
       ":2:12: \"follow 1\": follow can't be a part of an experiment; there are: run, recover"},
      {kHead + "commands = \"mneme run --threads {threads}\"\n" + kAxes + kPlot, "leave mneme out"},
      {kHead + "commands = \"run --json x --threads {threads}\"\n" + kAxes + kPlot,
       "leave --json out: the experiment gives it itself"},
      {kHead + "commands = \"run --wrong {threads}\"\n" + kAxes + kPlot,
       ":2:12: \"run --wrong 1 --seed {seed}\": mneme run has no option --wrong"},
      {kHead + "commands = \"recover @x --threads {threads}\"\n" + kAxes + kPlot,
       "@x stands for a database, and the file has no [databases]"},
      {kHead + "commands = \"run tpcb --threads {threads} $W\"\n" + kAxes + kPlot,
       "a word has a $: names of axes stand in braces"},
      {kHead + "commands = [\"run tpcb --threads {threads}\", \"run tatp\"]\n" + kAxes + kPlot,
       "2:45: two commands have the name run: give one another"},
      {kHead + "commands = [{ name = \"a\", comand = \"run\" }]\n" + kAxes + kPlot,
       "2:27: a command has no key \"comand\"; did you mean command?"},
      {kHead + two + kAxes + kPlot,
       ":8:5: \"rate\" begins with none of the commands' names, as run.rate would; there are: run, recover"},
      {kHead + kRun + kAxes + "[[plots]]\ntitle = \"p\"\nx = \"thread\"\ny = \"rate\"\n",
       ":7:5: x names an axis, and thread is none; did you mean threads? There is: threads"},
      {kHead + kRun + kAxes + "[[plots]]\ntitle = \"p\"\nx = \"threads\"\n",
       ":5:1: a plot needs y = \"...\""},
      {kHead + kRun + kAxes + "[[plots]]\ntitle = \"p\"\nx = \"threads\"\ny = \"a b\"\n",
       ":8:5: y = \"a b\": "},
      {kHead + kAxes + kPlot, "the plot has no commands: give them here, or above for all plots"},
      {kWhole + "scale = \"lgo\"\n",
       ":9:9: scale can't be \"lgo\"; did you mean log? There are: linear, log"},
      {kWhole + "where = { threads = 9 }\n", ":9:21: threads has no value 9; there are: 1, 2"},
      {kWhole + "name = \"a\"\n" + kPlot + "name = \"a\"\n", "two plots have the name a"},
      {kHead +
           "commands = \"run tpcb --threads {threads} --scale {scale}\"\n[axes]\nthreads = 1\nscale = [1, "
           "2]\n" +
           kPlot,
       ":6:1: scale has several values, and the plot leaves open which one: make it x or series, or choose "
       "one by where = { scale = ... }"},
      {kHead + "commands = \"run tpcb --scale {scale}\"\n[axes]\nthreads = [1, 2]\nscale = 1\n" + kPlot,
       ":6:1: the plot is drawn by threads, which stands in none of its commands: put {threads} where its "
       "value belongs"},
      {kWhole + "[[plots.series]]\nname = \"a\"\n[[plots.series]]\nname = \"a\"\n",
       "two series have the name a"},
      {kWhole + "[[claims]]\nsays = \"s\"\nleft = { x = 7 }\nis = \"above\"\ntimes = 1\n",
       ":11:8: threads has no value 7; there are: 1, 2, first, last, each"},
      {kWhole + "[[claims]]\nsays = \"s\"\nleft = { series = \"q\" }\nis = \"above\"\ntimes = 1\n",
       ":11:8: the plot plot-1 has no series \"q\"; there is: p"},
      {kWhole + "[[claims]]\nsays = \"s\"\nleft = {}\nis = \"over\"\ntimes = 1\n", "is can't be \"over\""},
      {kWhole + "[[claims]]\nsays = \"s\"\nleft = {}\nis = \"above\"\n", ":9:1: a claim needs right = "},
      {kWhole + "[[claims]]\nsays = \"s\"\nplot = \"q\"\nleft = {}\nis = \"above\"\ntimes = 1\n",
       ":11:8: the claim needs plot = the name of one; there is: plot-1"},
  };
  for (const Mistake& mistake : mistakes) {
    const Result<Figure> figure = declared(mistake.text);
    ASSERT_FALSE(figure.ok()) << mistake.text;
    EXPECT_EQ(figure.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_NE(figure.error().message.find(mistake.told), std::string::npos)
        << mistake.text << "\ntold: " << figure.error().message << "\nand not: " << mistake.told;
    EXPECT_TRUE(figure.error().message.starts_with("folder/mine.toml:")) << figure.error().message;
  }
}

TEST(FigureFile, TellsAllMistakesInTheFilesOrder) {
  const Result<Figure> figure =
      declared("titel = \"t\"\n" + kRun + kAxes + "spare = 1\n" + kPlot + "scale = 3\n");
  ASSERT_FALSE(figure.ok());
  const std::string& told = figure.error().message;
  EXPECT_EQ(std::ranges::count(told, '\n'), 3) << told;
  size_t last = 0;
  for (const char* part : {":1:1: an experiment has no key \"titel\"", ":1:1: an experiment needs title",
                           ":5:1: the axis spare is not used", ":10:9: scale must be a text"}) {
    const size_t at = told.find(part);
    ASSERT_NE(at, std::string::npos) << part << "\n" << told;
    EXPECT_GE(at, last) << part << "\n" << told;
    last = at;
  }
}

TEST(FigureFile, AMisspeltNameIsOneMistake) {
  const Result<Figure> figure =
      declared(kHead + "commands = \"run tpcb --threads {thread}\"\n" + kAxes + kPlot);
  ASSERT_FALSE(figure.ok());
  EXPECT_EQ(figure.error().message,
            "folder/mine.toml:2:12: {thread} is no axis; did you mean threads? There are: threads, cores, "
            "seed, dir, server, servers");
}

TEST(FigureFile, ItsNameIsTheResults) {
  test::expect_refused(
      declared(kWhole, "pacman-figure-16.toml"), ErrorKind::kInvalidArgument,
      "pacman-figure-16.toml:1:1: pacman-figure-16 is the name of a figure that the program has");
  test::expect_refused(declared(kWhole, "a b.toml"), ErrorKind::kInvalidArgument,
                       "a b.toml:1:1: the file's name");
  EXPECT_TRUE(is_figure_file("a.toml"));
  EXPECT_FALSE(is_figure_file("pacman-figure-16"));
}

TEST(FigureFile, IsReadFromTheDisk) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/mine.toml";
  test::expect_refused(read_figure_file(path, kTwoCores, right_command), ErrorKind::kInvalidArgument,
                       "there is no file " + path);
  test::expect_refused(read_figure_file(directory.path(), kTwoCores, right_command),
                       ErrorKind::kInvalidArgument, "there is no file ");
  std::ofstream(path) << kWhole;
  EXPECT_TRUE(read_figure_file(path, kTwoCores, right_command).ok());
}

TEST(Axes, NamesAreFilledInOnceOnTheWayDown) {
  EXPECT_EQ(with_names("{a} {b} {c}", {{"a", "1 {b}"}, {"b", "2"}}), "1 2 2 {c}");
  EXPECT_EQ(with_names("{a}", {{"a", "x {b}"}, {"b", "y {a}"}}), "x y {a}");
  EXPECT_EQ(names_in("{a} b {c"), (std::vector<std::string>{"a"}));
}

}  // namespace
}  // namespace mneme
