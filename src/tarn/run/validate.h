#pragma once

#include <string>

namespace tarn {

// `tarn validate [CASE]`: runs check.py of the case, or of every folder in `dir` that has one, with the program's path
// as its argument, and prints PASS or FAIL for each. Exit code 0 when all pass, 1 when one fails. Throws InputError
// where there is no such case.
int validate(const std::string& name, const std::string& dir, const std::string& program);

}  // namespace tarn
