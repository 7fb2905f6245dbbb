// import tarn: scenes and simulations for Python. The package around it, app/python/package/__init__.py, adds attributes from the
// parameter table and loops; this file is what they stand on.

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "scene.h"
#include "simulation.h"
#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/base/version.h"

namespace py = pybind11;
using namespace tarn;

namespace {

std::unique_ptr<PySimulation> make_simulation(const PyScene& scene)
{
    const py::gil_scoped_release others_may_run;
    Scene built = scene.build();
    if (built.params.dimension() == 2) return std::make_unique<SimulationOf<2>>(std::move(built));
    return std::make_unique<SimulationOf<3>>(std::move(built));
}

// A step of dt, or the longest that is allowed, and never beyond `until`. Ctrl-C is heard before each.
py::dict take_step(PySimulation& s, std::optional<double> dt, double until)
{
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (dt && !(*dt > 0)) throw InputError("dt: give a number greater than 0");
    Tried tried;
    {
        const py::gil_scoped_release others_may_run;
        const double remaining = until - s.time(), limit = s.longest_step();
        // Up to the end of a frame steps are equal, as in a run; what is farther off is come to in longest steps.
        const bool far = remaining > 1.5 * s.params().time.frame_seconds();
        const double wanted = dt ? std::min(*dt, remaining) : far ? std::min(limit, remaining) : equal_step(remaining, limit);
        if (std::isinf(wanted)) throw InputError("dt: nothing limits the step, as nothing moves; give dt or until");
        if (!(wanted > 0)) throw StepError(step_too_short(limit, s.fastest()));
        tried = s.step(wanted);
        if (tried.wrong.empty() && tried.dt == remaining) s.set_time(until);
    }
    if (!tried.wrong.empty())
        throw StepError("step " + std::to_string(s.step_count() + 1) + " failed, even with dt halved four times: " + tried.wrong);
    const StepReport& r = tried.report;
    return py::dict(py::arg("dt") = tried.dt, py::arg("iterations") = r.pressure.iterations, py::arg("residual") = r.pressure.residual,
                    py::arg("seconds_surface") = r.seconds_surface, py::arg("seconds_advect") = r.seconds_advect,
                    py::arg("seconds_pressure") = r.seconds_pressure);
}

py::dict measures_of(PySimulation& s)
{
    Measures m;
    {
        const py::gil_scoped_release others_may_run;
        m = s.measures();
    }
    return py::dict(py::arg("volume") = m.volume, py::arg("volume_expected") = s.volume_expected(),
                    py::arg("kinetic_energy") = m.kinetic_energy, py::arg("potential_energy") = m.potential_energy,
                    py::arg("max_speed") = m.max_speed, py::arg("max_divergence") = m.max_divergence,
                    py::arg("cells_wet") = m.cells_wet, py::arg("drops") = m.droplets.count);
}

// Vectors of small arrays as rows of one array; a copy, as meshes are made for the asking.
template <class Row, class T>
py::array_t<T> rows_of(const std::vector<Row>& rows, int columns)
{
    py::array_t<T> all({static_cast<py::ssize_t>(rows.size()), static_cast<py::ssize_t>(columns)});
    auto out = all.template mutable_unchecked<2>();
    for (size_t i = 0; i < rows.size(); ++i)
        for (int a = 0; a < columns; ++a) out(static_cast<py::ssize_t>(i), a) = rows[i][static_cast<size_t>(a)];
    return all;
}

py::dict mesh_of(const PySimulation& s)
{
    Mesh mesh;
    {
        const py::gil_scoped_release others_may_run;
        mesh = s.mesh();
    }
    py::array_t<float> points({static_cast<py::ssize_t>(mesh.points.size()), py::ssize_t(3)});
    auto out = points.mutable_unchecked<2>();
    for (size_t i = 0; i < mesh.points.size(); ++i)
        for (int a = 0; a < 3; ++a) out(static_cast<py::ssize_t>(i), a) = mesh.points[i][a];
    return py::dict(py::arg("points") = points, py::arg("triangles") = rows_of<std::array<int, 3>, int>(mesh.triangles, 3),
                    py::arg("lines") = rows_of<std::array<int, 2>, int>(mesh.lines, 2));
}

void add_simulation(py::module_& m)
{
    py::class_<PySimulation>(m, "Simulation")
        .def(py::init(&make_simulation), py::arg("scene"))
        .def("step", &take_step, py::arg("dt") = py::none(), py::arg("until") = HUGE_VAL)
        .def_property_readonly("time", &PySimulation::time)
        .def_property_readonly("steps", &PySimulation::step_count)
        .def_property_readonly("cell_size", &PySimulation::cell_size)
        .def_property_readonly("cells", [](const PySimulation& s) { return py::tuple(py::cast(s.cells())); })
        .def_property_readonly("frame_seconds", [](const PySimulation& s) { return s.params().time.frame_seconds(); })
        .def_property_readonly("frame_count", [](const PySimulation& s) { return s.params().time.frames; })
        .def("time_of", [](const PySimulation& s, int frame) { return s.params().time.time_of(frame); })
        .def_property_readonly("longest_step", &PySimulation::longest_step)
        .def("measures", &measures_of)
        .def("mesh", &mesh_of)
        .def("changed", &PySimulation::changed, py::call_guard<py::gil_scoped_release>())
        .def("save", &PySimulation::save, py::arg("path"), py::arg("frame") = 0, py::call_guard<py::gil_scoped_release>())
        .def("load", &PySimulation::load, py::arg("path"), py::call_guard<py::gil_scoped_release>())
        .def_property_readonly("hash", [](const PySimulation& s) { return fmt::format("{:016x}", s.hash()); })
        .def_property_readonly("phi", [](py::object self) { return self.cast<PySimulation&>().phi(self); })
        .def_property_readonly("pressure", [](py::object self) { return self.cast<PySimulation&>().pressure(self); })
        .def_property_readonly("velocity", [](py::object self) { return py::tuple(self.cast<PySimulation&>().velocity(self)); })
        .def_property_readonly("particles", &PySimulation::particles)
        .def_property_readonly("drops", &PySimulation::drops);
}

}  // namespace

PYBIND11_MODULE(_tarn, m)
{
    m.doc() = "Tarn's core: scenes, simulations, the parameter table.";
    py::register_exception<InputError>(m, "InputError", PyExc_ValueError);
    py::register_exception<StepError>(m, "StepError", PyExc_RuntimeError);
    py::register_exception<RunError>(m, "FileError", PyExc_OSError);
    m.def("version", [] { return std::string(version()); });
    m.def("set_threads", &set_threads, py::arg("n"));
    m.def("threads", &threads);
    m.def("parameters", &parameter_rows);
    py::class_<PyScene>(m, "Scene")
        .def(py::init<std::string, std::string, Overrides>(), py::arg("text"), py::arg("file"), py::arg("overrides"))
        .def_static("from_file", &PyScene::from_file, py::arg("path"), py::arg("overrides"))
        .def("set", &PyScene::set)
        .def("get", &PyScene::get)
        .def("resolved", &PyScene::resolved)
        .def_property_readonly("dimension", [](const PyScene& s) { return s.params().dimension(); });
    add_simulation(m);
}
