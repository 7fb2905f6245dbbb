#pragma once
// A simulation as Python holds it, in two or three dimensions: the state, a step that is taken again shorter where it fails, and
// arrays that look at the state's own memory.

#include <memory>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "tarn/output/checkpoint.h"
#include "tarn/output/surface.h"
#include "tarn/run/frames.h"
#include "tarn/run/retry.h"
#include "tarn/step/step.h"
#include "tarn/step/surface.h"

namespace tarn {

// What could not be simulated.
struct StepError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Lists of particles move in memory when they grow. Arrays of them look at memory that is theirs from the next step on, and the
// state goes on with a copy.
template <class List>
class Lent {
public:
    // What arrays must keep alive to look at the list.
    pybind11::capsule keeper()
    {
        if (!held_) held_ = std::make_shared<List>();
        return pybind11::capsule(new std::shared_ptr<List>(held_), [](void* p) { delete static_cast<std::shared_ptr<List>*>(p); });
    }
    // Before the list changes.
    void part(List& list)
    {
        if (!held_) return;
        if (held_.use_count() > 1) {
            held_->copy(list);
            held_->swap(list);
        }
        held_.reset();
    }

private:
    std::shared_ptr<List> held_;
};

class PySimulation {
public:
    virtual ~PySimulation() = default;
    virtual Tried step(double dt) = 0;
    virtual double longest_step() const = 0;
    virtual double fastest() const = 0;
    virtual double time() const = 0;
    virtual long step_count() const = 0;
    virtual double cell_size() const = 0;
    virtual std::vector<int> cells() const = 0;
    virtual double volume_expected() const = 0;
    virtual const Params& params() const = 0;
    virtual Measures measures() = 0;
    virtual void set_time(double time) = 0;
    virtual void changed() = 0;
    virtual void save(const std::string& path, int frame) const = 0;
    virtual int load(const std::string& path) = 0;
    virtual uint64_t hash() const = 0;
    virtual Mesh mesh() const = 0;

    // Arrays without a copy; `self` keeps the memory alive.
    virtual pybind11::array phi(pybind11::handle self) = 0;
    virtual pybind11::array pressure(pybind11::handle self) = 0;
    virtual pybind11::list velocity(pybind11::handle self) = 0;
    virtual pybind11::dict particles() = 0;
    virtual pybind11::dict drops() = 0;
};

template <int D>
class SimulationOf : public PySimulation {
public:
    explicit SimulationOf(Scene scene) : scene_(std::move(scene)), water_(initial_water<D>(scene_)), backup_(water_.grid) {}

    Tried step(double dt) override
    {
        lent_particles_.part(water_.particles);
        lent_drops_.part(water_.droplets);
        return step_with_retries(water_, backup_, scene_, dt, [&](double part) { return tarn::step(water_, scene_, part); });
    }
    double longest_step() const override { return choose_dt(water_, scene_); }
    double fastest() const override { return water_.fastest; }
    double time() const override { return water_.time; }
    void set_time(double time) override { water_.time = time; }
    long step_count() const override { return water_.step; }
    double cell_size() const override { return water_.grid.h; }
    double volume_expected() const override { return water_.volume_expected; }
    const Params& params() const override { return scene_.params; }
    Measures measures() override { return measure(water_, scene_.params); }
    std::vector<int> cells() const override { return {water_.grid.cells.v, water_.grid.cells.v + D}; }

    void changed() override
    {
        start_again(water_, scene_);
        backup_ = Backup<D>(water_.grid);
    }

    void save(const std::string& path, int frame) const override { save_checkpoint(path, water_, frame); }
    int load(const std::string& path) override
    {
        lent_particles_.part(water_.particles);
        lent_drops_.part(water_.droplets);
        const int frame = load_checkpoint(path, water_);
        restore(water_, scene_);
        backup_ = Backup<D>(water_.grid);
        return frame;
    }
    uint64_t hash() const override { return state_hash(water_); }
    Mesh mesh() const override { return surface_mesh(water_); }

    pybind11::array phi(pybind11::handle self) override { return array_of(water_.phi, -1, self); }
    pybind11::array pressure(pybind11::handle self) override { return array_of(water_.pressure, -1, self); }
    pybind11::list velocity(pybind11::handle self) override
    {
        pybind11::list all;
        for (int a = 0; a < D; ++a) all.append(array_of(water_.velocity[a], a, self));
        return all;
    }
    pybind11::dict particles() override
    {
        const auto view = water_.particles.view();
        const pybind11::capsule keeper = lent_particles_.keeper();
        pybind11::dict all;
        for (int a = 0; a < D; ++a) all[axis_names[a]] = column_of(view.x[a], water_.particles.count(), keeper);
        all["radius"] = column_of(view.radius, water_.particles.count(), keeper);
        return all;
    }
    pybind11::dict drops() override
    {
        const auto view = water_.droplets.view();
        const pybind11::capsule keeper = lent_drops_.keeper();
        const int n = water_.droplets.count();
        pybind11::dict all;
        for (int a = 0; a < D; ++a) {
            all[axis_names[a]] = column_of(view.x[a], n, keeper);
            all[velocity_names[a]] = column_of(view.u[a], n, keeper);
        }
        all["volume"] = column_of(view.volume, n, keeper);
        all["age"] = column_of(view.age, n, keeper);
        all["kind"] = column_of(view.kind, n, keeper);
        return all;
    }

private:
    static constexpr const char* axis_names[3] = {"x", "y", "z"};
    static constexpr const char* velocity_names[3] = {"u", "v", "w"};

    // Indexed [i, j] or [i, j, k] along x, y, z; faces have one more along their own axis.
    static pybind11::array array_of(Field<D>& field, int axis, pybind11::handle self)
    {
        const Grid<D>& grid = field.grid();
        std::vector<pybind11::ssize_t> shape, strides;
        for (int a = 0; a < D; ++a) {
            shape.push_back(grid.cells[a] + (a == axis));
            strides.push_back(static_cast<pybind11::ssize_t>(sizeof(float)) * grid.stride[a]);
        }
        return pybind11::array(pybind11::dtype::of<float>(), shape, strides, field.view().data, self);
    }
    static pybind11::array column_of(float* values, int n, const pybind11::capsule& keeper)
    {
        static float none = 0;
        return pybind11::array(pybind11::dtype::of<float>(), {static_cast<pybind11::ssize_t>(n)}, {static_cast<pybind11::ssize_t>(sizeof(float))},
                               n > 0 ? values : &none, keeper);
    }

    Scene scene_;
    Water<D> water_;
    Backup<D> backup_;
    Lent<Particles<D>> lent_particles_;
    Lent<Droplets<D>> lent_drops_;
};

}  // namespace tarn
