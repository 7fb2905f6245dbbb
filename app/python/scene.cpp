#include "scene.h"

#include <filesystem>

#include "tarn/base/error.h"
#include "tarn/output/files.h"
#include "tarn/params/tables.h"

namespace py = pybind11;

namespace tarn {

namespace {

struct Place {
    const Section* section;
    const ParamRow* row;
};

Place find(const std::string& key)
{
    const size_t dot = key.rfind('.');
    const std::string name = dot == std::string::npos ? "" : key.substr(0, dot);
    for (const Section& section : sections())
        if (section.name == name && !section.may_be_absent())
            for (const ParamRow& row : section.rows)
                if (row.name == key.substr(dot == std::string::npos ? 0 : dot + 1)) return {&section, &row};
    throw InputError(key + ": no such key; tarn.parameters() lists them");
}

py::object value_of(const Place& place, Params& params)
{
    const auto value = place.row->value(place.section->object(params, 0));
    const int dimension = params.domain.size.empty() ? 3 : params.dimension();
    if (!value) return py::none();
    return py::str(value_text(*place.row, *value, dimension));
}

const char* kind_name(ParamKind kind)
{
    switch (kind) {
        case ParamKind::number:
        case ParamKind::keyed_number:
            return "number";
        case ParamKind::integer:
            return "integer";
        case ParamKind::boolean:
            return "boolean";
        case ParamKind::text:
            return "text";
        case ParamKind::choice:
            return "choice";
        default:
            return "vector";
    }
}

}  // namespace

PyScene::PyScene(std::string text, std::string file, Overrides overrides)
    : text_(std::move(text)), file_(std::move(file)), overrides_(std::move(overrides)), params_(read_params(text_, file_, overrides_))
{
}

PyScene PyScene::from_file(const std::string& path, Overrides overrides)
{
    std::string text;
    try {
        text = read_file(path);
    } catch (const RunError& e) {
        throw InputError(std::string(e.what()) + "; check the name of the scene");
    }
    return PyScene(std::move(text), path, std::move(overrides));
}

void PyScene::set(const std::string& key, const std::string& toml)
{
    Overrides next = overrides_;
    std::erase_if(next, [&](const auto& other) { return other.first == key; });
    next.emplace_back(key, toml);
    params_ = read_params(text_, file_, next);
    overrides_ = std::move(next);
}

py::object PyScene::get(const std::string& key) const
{
    // Sections give out what they hold for writing, hence the copy.
    Params params = params_;
    return value_of(find(key), params);
}

Scene PyScene::build() const
{
    const std::filesystem::path path(file_);
    const std::string folder = path.parent_path().empty() ? "." : path.parent_path().string();
    return build_scene(params_, path.stem().string(), file_, folder);
}

py::list parameter_rows()
{
    py::list rows;
    Params defaults;
    for (const Section& section : sections()) {
        if (section.may_be_absent()) continue;
        for (const ParamRow& row : section.rows) {
            py::list words;
            for (const Word& word : row.words)
                if (word.available()) words.append(word.text);
            rows.append(py::dict(py::arg("section") = section.name, py::arg("name") = row.name, py::arg("kind") = kind_name(row.kind),
                                 py::arg("unit") = row.unit, py::arg("lo") = row.lo, py::arg("hi") = row.hi,
                                 py::arg("meaning") = row.meaning, py::arg("words") = words,
                                 py::arg("default") = value_of({&section, &row}, defaults)));
        }
    }
    return rows;
}

}  // namespace tarn
