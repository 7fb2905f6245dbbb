// The resolved scene: every parameter with its value, from the same tables that read it.

#include "tarn/params/tables.h"
#include "tarn/scene/read.h"

namespace tarn {

namespace {

void write_rows(std::string& out, std::span<const ParamRow> rows, const void* object, int dimension,
                const ShapeKind* shape)
{
    for (const ParamRow& row : rows) {
        if (shape && !row.belongs_to(*shape)) continue;
        if (row.only_3d && dimension == 2) continue;
        if (const auto value = row.value(object))
            out += std::string(row.name) + " = " + value_text(row, *value, dimension) + "\n";
    }
}

}  // namespace

std::string write_params(const Params& given)
{
    // Sections give out what they hold for writing, hence the copy.
    Params params = given;
    params.solid.insert(params.solid.end(), given.floats.begin(), given.floats.end());
    const int dimension = params.dimension();
    std::string out = "tarn = 1\n";
    for (const Section& section : sections()) {
        const std::string name = section.name;
        for (size_t i = 0; i < section.entries(params); ++i) {
            std::string rows;
            if (const ShapeParams* shape = section.shape_of(params, i))
                write_rows(rows, shape_rows(), shape, dimension, &shape->shape);
            write_rows(rows, section.rows, section.object(params, i), dimension, nullptr);
            if (!rows.empty() && !name.empty())
                out += section.repeated() ? "\n[[" + name + "]]\n" : "\n[" + name + "]\n";
            out += rows;
        }
    }
    return out;
}

}  // namespace tarn
