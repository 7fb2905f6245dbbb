#pragma once
// Three kinds of error, never mixed (see docs/architecture.md):
//   bad input           InputError, exit code 2
//   a broken invariant  TARN_CHECK_*, aborts with both values
//   numerics            a value in a report; only the run loop decides what to do about it

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tarn {

// What the user gave cannot be used. The text names file, line and key where there are any, and says what to do; where
// several things are wrong, each has a line.
struct InputError : std::runtime_error {
    explicit InputError(const std::string& text) : std::runtime_error(text), lines{text} {}
    explicit InputError(std::vector<std::string> all) : std::runtime_error(joined(all)), lines(std::move(all)) {}

    std::vector<std::string> lines;  // one at least

private:
    static std::string joined(const std::vector<std::string>& lines)
    {
        std::string text;
        for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
        return text;
    }
};

// The world outside failed while a run was going on: a full disk, a file that vanished. Exit code 1.
struct RunError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

namespace detail {
template <class A, class B>
[[noreturn]] void check_failed(const char* file, int line, const char* expression, const A& a, const B& b)
{
    std::ostringstream text;
    text << file << ':' << line << ": " << expression << " does not hold: " << a << " against " << b << '\n';
    std::fputs(text.str().c_str(), stderr);
    std::abort();
}
}  // namespace detail

#define TARN_CHECK_OP(a, op, b)                                                                                       \
    do {                                                                                                              \
        const auto& tarn_a = (a);                                                                                     \
        const auto& tarn_b = (b);                                                                                     \
        if (!(tarn_a op tarn_b)) ::tarn::detail::check_failed(__FILE__, __LINE__, #a " " #op " " #b, tarn_a, tarn_b); \
    } while (0)
#define TARN_CHECK_LT(a, b) TARN_CHECK_OP(a, <, b)
#define TARN_CHECK_LE(a, b) TARN_CHECK_OP(a, <=, b)
#define TARN_CHECK_GT(a, b) TARN_CHECK_OP(a, >, b)
#define TARN_CHECK_EQ(a, b) TARN_CHECK_OP(a, ==, b)

}  // namespace tarn
