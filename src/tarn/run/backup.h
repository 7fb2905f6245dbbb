#pragma once
// The state before a step, so that the step can be taken again with a smaller dt. It costs as many bytes as phi,
// velocity, pressure, the gradients that CIP carries, particles and droplets; a copy on disk would cost none,
// but most retries would then repeat many steps.

#include "tarn/step/water.h"

namespace tarn {

template <int D>
class Backup {
public:
    explicit Backup(const Grid<D>& grid) : phi_(grid), pressure_(grid), velocity_(grid), body_(grid) {}

    // Nothing where it holds this very state already.
    void take(const Water<D>& water)
    {
        if (step_ == water.step && time_ == water.time) return;
        backend::follow_copies();
        phi_.copy(water.phi);
        pressure_.copy(water.pressure);
        for (int a = 0; a < D; ++a) velocity_[a].copy(water.velocity[a]);
        particles_.copy(water.particles);
        fragments_.copy(water.fragments);
        exchange_ = water.exchange;
        due_ = water.flows.due;
        enclosed_air_ = water.enclosed_air;
        bodies_ = water.bodies;
        copy_gradients(*this, water);
        expected_ = water.ledger.expected;
        elsewhere_ = water.ledger.elsewhere;
        body_.copy(water.ledger.body);
        time_ = water.time;
        step_ = water.step;
        volume_expected_ = water.volume_expected;
        ahead_ = water.ahead;
    }
    // Solids and all else that restore() makes are the caller's to rebuild.
    void give_back(Water<D>& water) const
    {
        water.phi.copy(phi_);
        water.pressure.copy(pressure_);
        for (int a = 0; a < D; ++a) water.velocity[a].copy(velocity_[a]);
        water.particles.copy(particles_);
        water.fragments.copy(fragments_);
        water.exchange = exchange_;
        water.flows.due = due_;
        water.enclosed_air = enclosed_air_;
        water.bodies = bodies_;
        copy_gradients(water, *this);
        water.ledger.expected = expected_;
        water.ledger.elsewhere = elsewhere_;
        water.ledger.body.copy(body_);
        water.time = time_;
        water.step = step_;
        water.volume_expected = volume_expected_;
        water.ahead = ahead_;
    }

    const Field<D>& phi() const { return phi_; }

    // The state but for its spray, for reading alone, where the program can: copied while the next steps go on. `to` is
    // a water that room_for() made.
    void copy_beside(Water<D>& to) const
    {
        const auto copy = [](Field<D>& there, const Field<D>& here) {
            backend::copy_beside(there.data(), here.data(), here.size() * sizeof(float));
        };
        copy(to.phi, phi_);
        copy(to.pressure, pressure_);
        for (int a = 0; a < D; ++a) copy(to.velocity[a], velocity_[a]);
        to.particles.copy_beside(particles_);
        for_each_gradient(to, *this, [&](Field<D>& there, const Field<D>& here) {
            if (there.size() == 0) there = Field<D>(here.grid(), Where::program);
            copy(there, here);
        });
        to.ledger.expected = expected_;
        to.ledger.elsewhere = elsewhere_;
        backend::copy_beside(to.ledger.body.data(), body_.data(), body_.size() * sizeof(int));
        to.step = step_;
        to.volume_expected = volume_expected_;
        to.ahead = ahead_;
    }
    // What a picture needs besides phi.
    void copy_spray_beside(Water<D>& to) const
    {
        to.fragments.copy_beside(fragments_);
        to.exchange = exchange_;
        to.flows.due = due_;
        to.enclosed_air = enclosed_air_;
        to.bodies = bodies_;
        to.time = time_;
    }
    static Water<D> room_for(const Water<D>& water)
    {
        Water<D> room;
        room.grid = water.grid;
        room.phi = Field<D>(water.grid, Where::program);
        room.pressure = Field<D>(water.grid, Where::program);
        room.velocity = FaceField<D>(water.grid, Where::program);
        room.particles = Particles<D>(Where::program);
        room.fragments = Fragments<D>(Where::program);
        room.ledger.body = Field<D, int>(water.grid, Where::program);
        room.solids.any = water.solids.any;
        if (water.solids.any) room.solids.distance = Field<D>(water.grid, Where::program);
        return room;
    }

private:
    // What only some methods have of a water or of a backup: gradients, debt and acceleration.
    static Gradient<D>& phi_of(Backup& b) { return b.phi_gradient_; }
    static const Gradient<D>& phi_of(const Backup& b) { return b.phi_gradient_; }
    static Gradient<D>& phi_of(Water<D>& w) { return w.phi_gradient; }
    static const Gradient<D>& phi_of(const Water<D>& w) { return w.phi_gradient; }
    static FaceField<D>& acceleration_of(Backup& b) { return b.acceleration_; }
    static const FaceField<D>& acceleration_of(const Backup& b) { return b.acceleration_; }
    static FaceField<D>& acceleration_of(Water<D>& w) { return w.acceleration; }
    static const FaceField<D>& acceleration_of(const Water<D>& w) { return w.acceleration; }
    static Field<D>& debt_of(Backup& b) { return b.debt_; }
    static const Field<D>& debt_of(const Backup& b) { return b.debt_; }
    static Field<D>& debt_of(Water<D>& w) { return w.debt; }
    static const Field<D>& debt_of(const Water<D>& w) { return w.debt; }
    static Gradient<D>& velocity_of(Backup& b, int a) { return b.velocity_gradient_[a]; }
    static const Gradient<D>& velocity_of(const Backup& b, int a) { return b.velocity_gradient_[a]; }
    static Gradient<D>& velocity_of(Water<D>& w, int a) { return w.velocity_gradient[a]; }
    static const Gradient<D>& velocity_of(const Water<D>& w, int a) { return w.velocity_gradient[a]; }
    template <class To, class From, class F>
    static void for_each_gradient(To& to, const From& from, const F& f)
    {
        for (int b = 0; b < D && phi_of(from).any(); ++b) f(phi_of(to).along[b], phi_of(from).along[b]);
        for (int a = 0; a < D; ++a)
            for (int b = 0; b < D && velocity_of(from, a).any(); ++b)
                f(velocity_of(to, a).along[b], velocity_of(from, a).along[b]);
        if (debt_of(from).size() > 0) f(debt_of(to), debt_of(from));
        for (int a = 0; a < D && acceleration_of(from)[a].size() > 0; ++a)
            f(acceleration_of(to)[a], acceleration_of(from)[a]);
    }
    template <class To, class From>
    static void copy_gradients(To& to, const From& from)
    {
        for_each_gradient(to, from, [](Field<D>& there, const Field<D>& here) {
            if (there.size() == 0) there = Field<D>(here.grid());
            there.copy(here);
        });
    }

    Field<D> phi_, pressure_;
    Gradient<D> phi_gradient_, velocity_gradient_[D];
    Field<D> debt_;
    FaceField<D> acceleration_;
    FaceField<D> velocity_;
    Particles<D> particles_;
    Fragments<D> fragments_;
    Exchange exchange_;
    std::vector<double> due_;  // of sources
    AirRegions enclosed_air_;
    std::vector<RigidBody> bodies_;
    Field<D, int> body_;  // of the ledger, as what follows
    std::vector<double> expected_;
    double elsewhere_ = 0;
    double time_ = 0, volume_expected_ = 0, ahead_ = 0;
    long step_ = -1;
};

}  // namespace tarn
