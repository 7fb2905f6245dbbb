#pragma once
// A scene as Python holds it: the text of a scene file and what was set since, read anew after every change, so that the same
// reader judges it as judges a file.

#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "tarn/scene/read.h"

namespace tarn {

class PyScene {
public:
    // Throws InputError.
    PyScene(std::string text, std::string file, Overrides overrides);
    static PyScene from_file(const std::string& path, Overrides overrides);

    void set(const std::string& key, const std::string& toml);
    // The value of a dotted key as TOML; nothing where it is not given and has no default. Throws InputError where there is no such
    // key.
    pybind11::object get(const std::string& key) const;
    std::string resolved() const { return write_params(params_); }
    Scene build() const;
    const Params& params() const { return params_; }

private:
    std::string text_, file_;
    Overrides overrides_;
    Params params_;
};

// Every row of the parameter table: section, name, kind, unit, range, meaning, words and default.
pybind11::list parameter_rows();

}  // namespace tarn
