// The head is XML; the arrays follow in one lump, each as its size in bytes and then the bytes.
// https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html

#include "tarn/output/vtk.h"

#include <bit>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

#include "tarn/base/version.h"
#include "tarn/output/cell_values.h"
#include "tarn/output/files.h"

namespace tarn {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

class VtkFile {
public:
    // `attributes` of the element named like the type: where the whole image lies.
    VtkFile(const char* type, double time, const std::string& attributes = "") : type_(type)
    {
        head_ = fmt::format(
            "<?xml version=\"1.0\"?>\n<!-- Tarn {}: metres, y is up -->\n"
            "<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<{}{}>\n"
            "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{}"
            "</DataArray></FieldData>\n",
            version(), type, type, attributes, time);
    }

    void open(const std::string& element) { head_ += "<" + element + ">\n"; }
    void close(const std::string& element) { head_ += "</" + element + ">\n"; }

    // An array of so many numbers a tuple; its values are tuples of floats or of 32-bit integers.
    template <class T>
    void array(const char* name, int components, const std::vector<T>& values, bool integers = false)
    {
        head_ += fmt::format(
            "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n",
            integers ? "Int32" : "Float32", name, components, data_.size());
        const uint64_t size = values.size() * sizeof(T);
        data_.append(reinterpret_cast<const char*>(&size), sizeof size);
        data_.append(reinterpret_cast<const char*>(values.data()), size);
    }

    // Cells of so many points each, which `points` lists one cell after another.
    template <class T>
    void cells(const char* element, int points_each, const std::vector<T>& points)
    {
        std::vector<int> ends(points.size() * sizeof(T) / sizeof(int) / static_cast<size_t>(points_each));
        for (size_t i = 0; i < ends.size(); ++i) ends[i] = static_cast<int>(i + 1) * points_each;
        open(element);
        array("connectivity", 1, points, true);
        array("offsets", 1, ends, true);
        close(element);
    }

    void write(const std::string& path)
    {
        head_ += fmt::format("</{}>\n<AppendedData encoding=\"raw\">\n_", type_);
        write_file(path, head_ + data_ + "\n</AppendedData>\n</VTKFile>\n");
    }

private:
    std::string type_, head_, data_;
};

}  // namespace

void write_vtp(const std::string& path, const Mesh& mesh, double time)
{
    VtkFile file("PolyData", time);
    const std::string piece = fmt::format(
        "Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"{}\" "
        "NumberOfStrips=\"0\" NumberOfPolys=\"{}\"",
        mesh.points.size(), mesh.lines.size(), mesh.triangles.size());
    file.open(piece);
    file.open("PointData Normals=\"Normals\" Vectors=\"velocity\"");
    file.array("Normals", 3, mesh.normals);
    file.array("velocity", 3, mesh.velocities);
    file.close("PointData");
    file.open("Points");
    file.array("Points", 3, mesh.points);
    file.close("Points");
    file.cells("Lines", 2, mesh.lines);
    file.cells("Polys", 3, mesh.triangles);
    file.close("Piece");
    file.write(path);
}

void write_vtp(const std::string& path, const std::vector<Drop>& drops, double time)
{
    std::vector<Vec3f> points, velocities;
    std::vector<float> radii, ages;
    for (const Drop& drop : drops) {
        points.push_back(drop.position);
        velocities.push_back(drop.velocity);
        radii.push_back(drop.radius);
        ages.push_back(drop.age);
    }
    std::vector<int> each(drops.size());
    std::iota(each.begin(), each.end(), 0);

    VtkFile file("PolyData", time);
    file.open(
        fmt::format("Piece NumberOfPoints=\"{0}\" NumberOfVerts=\"{0}\" NumberOfLines=\"0\" "
                    "NumberOfStrips=\"0\" NumberOfPolys=\"0\"",
                    drops.size()));
    file.open("PointData Scalars=\"radius\" Vectors=\"velocity\"");
    file.array("velocity", 3, velocities);
    file.array("radius", 1, radii);
    file.array("age", 1, ages);
    file.close("PointData");
    file.open("Points");
    file.array("Points", 3, points);
    file.close("Points");
    file.cells("Verts", 1, each);
    file.close("Piece");
    file.write(path);
}

template <int D>
void write_vti(const std::string& path, const Water<D>& water)
{
    const CellValues values = cell_values(water);
    const double h = water.grid.h;
    std::string extent, origin;
    for (int a = 0; a < 3; ++a) {
        const char* const space = a ? " " : "";
        extent += fmt::format("{}0 {}", space, a < D ? water.grid.cells[a] - 1 : 0);
        origin += fmt::format("{}{}", space, a < D ? 0.5 * h : 0.0);
    }
    VtkFile file("ImageData", water.time,
                 fmt::format(" WholeExtent=\"{}\" Origin=\"{}\" Spacing=\"{} {} {}\"", extent, origin, h, h, h));
    file.open(fmt::format("Piece Extent=\"{}\"", extent));
    file.open(fmt::format("PointData Scalars=\"{}\" Vectors=\"velocity\"", water.smoke ? "density" : "phi"));
    if (!water.smoke) file.array("phi", 1, values.phi);
    if (water.smoke) file.array("density", 1, values.density);
    if (water.smoke) file.array("temperature", 1, values.temperature);
    file.array("velocity", 3, values.velocity);
    file.array("pressure", 1, values.pressure);
    if (!values.solid.empty()) file.array("solid", 1, values.solid);
    file.close("PointData");
    file.close("Piece");
    file.write(path);
}

template void write_vti<2>(const std::string&, const Water<2>&);
template void write_vti<3>(const std::string&, const Water<3>&);

}  // namespace tarn
