// A fuzzer of the scene reader. Besides libFuzzer's own changes, which know bytes, it makes changes that know the
// parameter tables. Text behind a first byte 1 is taken as `--set key=value`.
//
//   cmake -S . -B build-fuzz -G Ninja -DTARN_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++
//   cmake --build build-fuzz --target scene_fuzzer
//   build-fuzz/bin/scene_fuzzer -runs=1000000 -max_len=8192 -timeout=5

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../scene_generator.h"
#include "tarn/base/error.h"
#include "tarn/scene/read.h"

using namespace tarn;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

[[noreturn]] void broken(const char* what, const std::string& text)
{
    std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
    std::abort();
}

bool names_line(const std::string& message)
{
    if (message.compare(0, 6, "--set ") == 0) return true;
    size_t at = std::string("x.toml:").size();
    if (message.compare(0, at, "x.toml:") != 0 || !std::isdigit(message[at]) || message[at] == '0') return false;
    while (std::isdigit(message[at])) ++at;
    return message.compare(at, 2, ": ") == 0 && message.find(": ", at + 2) != std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    std::string text(reinterpret_cast<const char*>(data), size);
    Overrides overrides;
    if (const size_t mark = text.find('\1'); mark != std::string::npos) {
        const std::string set = text.substr(mark + 1);
        const size_t equals = set.find('=');
        if (equals != std::string::npos) overrides.push_back({set.substr(0, equals), set.substr(equals + 1)});
        text.resize(mark);
    }
    Params params;
    try {
        params = read_params(text, "x.toml", overrides);
    } catch (const InputError& e) {
        if (!names_line(e.what())) broken("refused without a line", e.what());
        return 0;
    }
    const std::string written = write_params(params);
    try {
        if (write_params(read_params(written, "x.toml")) != written) broken("reads back otherwise", written);
    } catch (const InputError& e) {
        broken(e.what(), written);
    }
    return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed)
{
    SceneGenerator generator(seed);
    if (generator.pick(2) == 0) return LLVMFuzzerMutate(data, size, max_size);
    std::string text(reinterpret_cast<const char*>(data), size);
    if (size < 20 || generator.pick(200) == 0) text = generator.scene();
    for (size_t n = 1 + generator.pick(3); n > 0; --n) text = generator.damaged(text);
    if (text.size() > max_size) text.resize(max_size);
    std::memcpy(data, text.data(), text.size());
    return text.size();
}
