#pragma once
// A number as a formula in the time t, such as "0.1 * sin(2 * pi * t)".
//
//   sum      = product { ("+" | "-") product }
//   product  = power { ("*" | "/") power }
//   power    = "-" power | atom [ "^" power ]
//   atom     = number | "t" | "pi" | name "(" sum { "," sum } ")" | "(" sum ")"
//
// Functions are sin, cos, tan, exp, log, sqrt, abs, floor, step (0 below zero, else 1), min and max.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tarn {

class Formula {
public:
    // Nothing, and `why` says in words what is wrong, where the text is no formula.
    static std::optional<Formula> parse(std::string_view text, std::string& why);

    double at(double t) const;
    const std::string& text() const { return text_; }
    bool operator==(const Formula& other) const { return text_ == other.text_; }
    // The same with t counted from `later`.
    Formula shifted(double later) const;

private:
    friend class FormulaParser;
    enum class Op { number, t, add, subtract, multiply, divide, power, negate, sin, cos, tan, exp, log, sqrt, abs, floor, step, min, max };
    struct Word {
        Op op;
        double number = 0;
    };
    std::string text_;
    std::vector<Word> program_;  // in postfix order
};

}  // namespace tarn
