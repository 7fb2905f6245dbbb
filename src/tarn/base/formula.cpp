#include "tarn/base/formula.h"

#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

namespace tarn {

class FormulaParser {
public:
    using Op = Formula::Op;

    explicit FormulaParser(std::string_view text) : text_(text) {}

    std::vector<Formula::Word> program;
    std::string why;

    bool parse()
    {
        sum();
        skip();
        if (why.empty() && at_ < text_.size()) fail("\"" + std::string(text_.substr(at_)) + "\" is left over");
        return why.empty();
    }

private:
    static constexpr int deepest = 100;

    struct Function {
        std::string_view name;
        Op op;
        int arguments;
    };
    static constexpr Function functions[] = {
        {"sin", Op::sin, 1}, {"cos", Op::cos, 1},   {"tan", Op::tan, 1},     {"exp", Op::exp, 1},
        {"log", Op::log, 1}, {"sqrt", Op::sqrt, 1}, {"abs", Op::abs, 1},     {"floor", Op::floor, 1},
        {"step", Op::step, 1}, {"min", Op::min, 2}, {"max", Op::max, 2},
    };

    void fail(const std::string& text)
    {
        if (why.empty()) why = text;
    }
    void skip()
    {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    }
    bool take(char c)
    {
        skip();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void add(Op op) { program.push_back({op}); }

    void sum()
    {
        product();
        while (why.empty()) {
            const bool plus = take('+');
            if (!plus && !take('-')) return;
            product();
            add(plus ? Op::add : Op::subtract);
        }
    }
    void product()
    {
        power();
        while (why.empty()) {
            const bool times = take('*');
            if (!times && !take('/')) return;
            power();
            add(times ? Op::multiply : Op::divide);
        }
    }
    void power()
    {
        if (++depth_ > deepest) return fail("is nested too deep");
        if (take('-')) {
            power();
            add(Op::negate);
        } else {
            atom();
            if (why.empty() && take('^')) {
                power();
                add(Op::power);
            }
        }
        --depth_;
    }
    void atom()
    {
        skip();
        if (take('(')) {
            sum();
            if (!take(')')) fail("a \")\" is missing");
            return;
        }
        const char c = at_ < text_.size() ? text_[at_] : 0;
        if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return number();
        if (!std::isalpha(static_cast<unsigned char>(c)))
            return fail(c ? "\"" + std::string(1, c) + "\" is out of place" : "something is missing at its end");
        const size_t start = at_;
        while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_]))) ++at_;
        const std::string_view name = text_.substr(start, at_ - start);
        if (name == "t") return add(Op::t);
        if (name == "pi") return program.push_back({Op::number, std::numbers::pi});
        for (const Function& f : functions) {
            if (f.name != name) continue;
            if (!take('(')) return fail("\"" + std::string(name) + "\" needs its argument in parentheses");
            for (int n = 0; n < f.arguments; ++n) {
                if (n > 0 && !take(',')) return fail("\"" + std::string(name) + "\" takes " + std::to_string(f.arguments) + " arguments");
                sum();
            }
            if (!take(')')) return fail("a \")\" is missing");
            return add(f.op);
        }
        fail("\"" + std::string(name) +
             "\" is not known; there are t, pi, sin, cos, tan, exp, log, sqrt, abs, floor, step, min and max");
    }
    void number()
    {
        const std::string rest(text_.substr(at_));
        char* end = nullptr;
        const double value = std::strtod(rest.c_str(), &end);
        if (end == rest.c_str()) return fail("\".\" is out of place");
        at_ += static_cast<size_t>(end - rest.c_str());
        program.push_back({Op::number, value});
    }

    std::string_view text_;
    size_t at_ = 0;
    int depth_ = 0;
};

std::optional<Formula> Formula::parse(std::string_view text, std::string& why)
{
    FormulaParser parser(text);
    if (!parser.parse()) {
        why = parser.why;
        return {};
    }
    Formula formula;
    formula.text_ = text;
    formula.program_ = std::move(parser.program);
    return formula;
}

double Formula::at(double t) const
{
    std::vector<double> stack;
    stack.reserve(program_.size());
    for (const Word& word : program_) {
        if (word.op == Op::number || word.op == Op::t) {
            stack.push_back(word.op == Op::t ? t : word.number);
            continue;
        }
        const bool two = (word.op >= Op::add && word.op <= Op::power) || word.op >= Op::min;
        const double b = stack.back();
        if (two) stack.pop_back();
        double& a = stack.back();
        switch (word.op) {
            case Op::add: a += b; break;
            case Op::subtract: a -= b; break;
            case Op::multiply: a *= b; break;
            case Op::divide: a /= b; break;
            case Op::power: a = std::pow(a, b); break;
            case Op::negate: a = -a; break;
            case Op::sin: a = std::sin(a); break;
            case Op::cos: a = std::cos(a); break;
            case Op::tan: a = std::tan(a); break;
            case Op::exp: a = std::exp(a); break;
            case Op::log: a = std::log(a); break;
            case Op::sqrt: a = std::sqrt(a); break;
            case Op::abs: a = std::fabs(a); break;
            case Op::floor: a = std::floor(a); break;
            case Op::step: a = a < 0 ? 0 : 1; break;
            case Op::min: a = b < a ? b : a; break;
            case Op::max: a = b > a ? b : a; break;
            case Op::number:
            case Op::t: break;
        }
    }
    return stack.back();
}

Formula Formula::shifted(double later) const
{
    char number[40];
    std::snprintf(number, sizeof number, "(t + %.17g)", later);
    const auto letter = [&](size_t i) { return i < text_.size() && std::isalpha(static_cast<unsigned char>(text_[i])); };
    std::string text;
    for (size_t i = 0; i < text_.size(); ++i) {
        const bool alone = text_[i] == 't' && !letter(i + 1) && !(i > 0 && letter(i - 1));
        text += alone ? std::string(number) : std::string(1, text_[i]);
    }
    std::string why;
    return *parse(text, why);
}

}  // namespace tarn
