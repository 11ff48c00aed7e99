// mneme_lab: answers one request of the laboratory (laboratory.h): from the standard input, to the standard
// output. The folder that it works in is its argument, which it makes, and which must not be there.
#include <cstdio>
#include <filesystem>
#include <string>

#include "lab/laboratory.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: mneme_lab FOLDER < REQUEST\n", stderr);
    return 2;
  }
  std::error_code error;
  if (!std::filesystem::create_directory(argv[1], error)) {
    std::fprintf(stderr, "mneme_lab: cannot make the folder %s\n", argv[1]);
    return 2;
  }
  std::string request;
  char buffer[4096];
  for (size_t bytes = 0; (bytes = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;)
    request.append(buffer, bytes);
  const std::string answer = mneme::lab::answer(request, argv[1]);
  return std::fwrite(answer.data(), 1, answer.size(), stdout) == answer.size() && std::fflush(stdout) == 0
             ? 0
             : 1;
}
