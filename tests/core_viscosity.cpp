// Viscous water against closed forms and against the lid-driven cavity.

#include <numbers>

#include "run_water.h"
#include "tarn/phases/viscosity.h"

namespace tarn {
namespace {

constexpr double pi = std::numbers::pi;

// Taylor-Green eddies fill a box with slip walls exactly: u = sin(kx) cos(ky), v = -cos(kx) sin(ky). They keep their shape, and
// their velocity decays as exp(-2 nu k^2 t): by 0.454041 in one second for k = 2 pi and nu = 0.01. The issue allows 1 %.
class TG : public testing::TestWithParam<std::tuple<int,double,Advection>> {};
INSTANTIATE_TEST_SUITE_P(x, TG, testing::Combine(testing::Values(32,64,128), testing::Values(0.125, 0.25, 0.5), testing::Values(Advection::maccormack)));
TEST_P(TG, eddies_decay_as_they_should)
{
    const auto [ncells, cfl, adv] = GetParam();
    Params p = pool(2, ncells, 2.0);
    p.domain.gravity = Vec3{};
    p.fluid.viscosity = 0.01;
    p.method.advection = Advection::maccormack;
    p.time.cfl = cfl; p.method.advection = adv;printf("n %d cfl %g ",ncells,cfl);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const double k = 2 * pi;
    const auto eddies = [&](Vec2 x, int a) {
        return a == 0 ? std::sin(k * x[0]) * std::cos(k * x[1]) : -std::cos(k * x[0]) * std::sin(k * x[1]);
    };
    for (int a = 0; a < 2; ++a)
        parallel_for_faces("eddies", w.tiles_active, a,
                           [&](Cell<2> c) { w.velocity[a](c) = static_cast<float>(eddies(w.grid.face(c, a), a)); });
    const double before = measure(w, p).kinetic_energy;
    run_to(w, scene, 1.0);
    const double decay = std::sqrt(measure(w, p).kinetic_energy / before), exact = 0.454040739;
    printf("taylor-green %g err %g\n", decay, decay / exact - 1);
    EXPECT_NEAR(decay, exact, 0.01 * exact);
    double worst=0;
    for (int a = 0; a < 2; ++a)
        parallel_for_faces("eddies", w.tiles_active, a, [&](Cell<2> c) {
            worst = std::max(worst, std::fabs(w.velocity[a](c)- exact * eddies(w.grid.face(c, a), a))/exact);
        });
    printf("worst %g\n", worst);
}

// A channel along x, driven by a steady force of 1 m/s^2, with walls below and above that hold the water. At its ends
// the flow is prescribed, as if solids moved there.
struct Channel {
    Grid<2> grid;
    Field<2> phi, nu;
    FaceField<2> u, r, p, q, open, ends;
    Boundary<2> boundary;
    NoSlip<2> no_slip;

    template <class Nu, class U>
    Channel(int cells, const Nu& nu_at, const U& exact)
        : grid(Cell<2>{12, cells}, 1.0 / cells), phi(distance_field(grid, -1.0f)), nu(grid), u(grid), r(grid), p(grid),
          q(grid), open(grid), ends(grid)
    {
        open[0].fill(1);  // and nothing flows across
        parallel_for_faces("ends", all_tiles(grid), 0, [&](Cell<2> c) {
            if (c[0] > 2 && c[0] < 10) return;
            open[0](c) = 0;
            ends[0](c) = static_cast<float>(exact(grid.face(c, 0)[1]));
        });
        parallel_for("nu", all_tiles(grid), [&](Cell<2> c) { nu(c) = static_cast<float>(nu_at(grid.centre(c)[1])); });
        boundary.cells = grid.cells;
        boundary.solids = boundary.moving = true;
        boundary.open = std::as_const(open).view();
        boundary.solid_velocity = std::as_const(ends).view();
        no_slip.wall[1][0] = no_slip.wall[1][1] = true;
    }
    // Lets the flow settle: what is left of the start falls as exp(-pi^2 nu t), so 4 s are for ever.
    void settle()
    {
        for (int n = 0; n < 8; ++n) {
            const double dt = 0.5;
            parallel_for_faces("push", all_tiles(grid), 0, [&](Cell<2> c) { u[0](c) += static_cast<float>(dt); });
            const SolveReport report = diffuse(u, phi, Viscosity<2>{0, std::as_const(nu).view()}, boundary, no_slip,
                                               all_tiles(grid), dt, 1e-6, ViscosityScratch<2>{r, p, q});
            EXPECT_TRUE(report.converged);
        }
    }
};

// The largest error of the settled flow, as a part of its largest velocity.
template <class Nu, class U>
double channel_error(int cells, const Nu& nu, const U& exact)
{
    Channel channel(cells, nu, exact);
    channel.settle();
    double worst = 0, fastest = 0;
    for (int j = 0; j < cells; ++j) {
        const Cell<2> c{6, j};
        const double u = exact(channel.grid.face(c, 0)[1]);
        worst = std::max(worst, std::fabs(channel.u[0](c) - u));
        fastest = std::max(fastest, u);
    }
    return worst / fastest;
}

// Two layers in a channel of height 1, nu = 1 in the lower half and 10 in the upper: nu u' = s - y, with s such that u
// vanishes at both walls; u and the stress pass through the boundary between the layers.
TEST(Viscosity, carries_the_shear_of_two_layers)
{
    const double lower = 1, upper = 10, s = (0.125 / lower + 0.375 / upper) / (0.5 / lower + 0.5 / upper);
    const auto exact = [=](double y) {
        const auto part = [=](double a, double b, double nu) { return (s * (b - a) - 0.5 * (b * b - a * a)) / nu; };
        return part(0, std::min(y, 0.5), lower) + part(0.5, std::max(y, 0.5), upper);
    };
    for (int n : {8, 16, 32})
    printf("layers %d %g\n", n, channel_error(n, [=](double y) { return y < 0.5 ? lower : upper; }, exact));
}

// Viscosity that grows smoothly, nu = 1 + 3y: (1 + 3y) u' = s - y gives logarithms.
TEST(Viscosity, is_second_order_where_it_varies_smoothly)
{
    const double s = (1.0 / 3 - std::log(4.0) / 9) / (std::log(4.0) / 3);
    const auto exact = [=](double y) { return s * std::log(1 + 3 * y) / 3 - (y / 3 - std::log(1 + 3 * y) / 9); };
    const auto nu = [](double y) { return 1 + 3 * y; };
    for (int n : {8, 16, 32})
    printf("smooth %d %g\n", n, channel_error(n, nu, exact));
}

// A box of water with a lid that slides to the right at 1 m/s: a long solid in the cells above y = 1.
Params cavity(int cells, double reynolds)
{
    Params p = pool(2, cells + 4, 4.0);
    p.domain.size = {1, (cells + 4.0) / cells};
    p.domain.gravity = Vec3{};
    p.domain.walls.left = p.domain.walls.right = p.domain.walls.bottom = WallKind::no_slip;
    p.fluid.viscosity = 1 / reynolds;
    p.method.advection = Advection::maccormack;
    p.time.cfl = 1;
    SolidParams lid;
    lid.min = Vec3{-1000, 1, 0};
    lid.max = Vec3{1000, 2, 0};
    lid.no_slip = true;
    lid.translate.keys = {{0, Vec3{}}, {900, Vec3{900, 0, 0}}};
    p.solid.push_back(lid);
    return p;
}

// Ghia, Ghia & Shin 1982, tables I and II, Re 100.
constexpr double ghia_y[] = {0.0547, 0.0625, 0.0703, 0.1016, 0.1719, 0.2813, 0.4531, 0.5,
                             0.6172, 0.7344, 0.8516, 0.9531, 0.9609, 0.9688, 0.9766};
constexpr double ghia_u[] = {-0.03717, -0.04192, -0.04775, -0.06434, -0.1015, -0.15662, -0.2109, -0.20581,
                             -0.13641, 0.00332,  0.23151,  0.68717,  0.73722, 0.78871,  0.84123};

TEST(Cavity, drives_the_flow_of_Ghia)
{
    const Params p = cavity(48, 100);
    const Scene scene = scene_of(p);
    Water<2> w = initial_water<2>(scene);
    const auto u_at = [&](double y) {
        // x = 0.5 is a face; along y between faces' centres.
        const double j = y / w.grid.h - 0.5;
        const int below = static_cast<int>(std::floor(j));
        const int i = w.grid.cells[0] / 2;
        return (below + 1 - j) * w.velocity[0](Cell<2>{i, below}) + (j - below) * w.velocity[0](Cell<2>{i, below + 1});
    };
    for (double t : {5, 10, 15, 20}) {
        run_to(w, scene, t);
        double worst = 0;
        for (size_t n = 0; n < std::size(ghia_y); ++n) worst = std::max(worst, std::fabs(u_at(ghia_y[n]) - ghia_u[n]));
        printf("t %g cavity %g volume %g\n", t, worst, measure(w, p).volume);
    }
}

}  // namespace
}  // namespace tarn
