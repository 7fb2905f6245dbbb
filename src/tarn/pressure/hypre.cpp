#include "tarn/pressure/hypre.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "tarn/backend/hypre.h"
#include "tarn/base/error.h"

namespace tarn {

namespace {

using Vector = std::vector<double>;

// Calls f(chunk, begin, end) for fixed chunks of n rows, on all threads.
constexpr int chunk_rows = 4096;
int chunks_of(int n) { return (n + chunk_rows - 1) / chunk_rows; }
template <class F>
void each_chunk(int n, const F& f)
{
    parallel_rows("hypre", chunks_of(n), [&](int chunk) { f(chunk, chunk * chunk_rows, std::min(n, (chunk + 1) * chunk_rows)); });
}

double dot(const Vector& a, const Vector& b)
{
    const int n = static_cast<int>(a.size());
    Vector partial(static_cast<size_t>(chunks_of(n)));
    each_chunk(n, [&](int chunk, int begin, int end) {
        double sum = 0;
        for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) sum += a[i] * b[i];
        partial[static_cast<size_t>(chunk)] = sum;
    });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
}

// a += factor b.
void add(Vector& a, double factor, const Vector& b)
{
    each_chunk(static_cast<int>(a.size()), [&](int, int begin, int end) {
        for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) a[i] += factor * b[i];
    });
}

double largest(const Vector& a)
{
    double most = 0;
    for (const double v : a) most = std::isnan(v) ? v : (std::fabs(v) > most ? std::fabs(v) : most);
    return most;
}

// The rows of the cells, box by box, then those of the regions.
template <int D>
class Matrix {
public:
    explicit Matrix(const Poisson<D>& system) : bodies_(system.bodies && system.bodies->any() ? system.bodies : nullptr)
    {
        number_cells(system);
        if (system.regions && system.regions->any()) regions_ = system.regions;
        write_rows(system);
        find_components();
    }

    int rows() const { return static_cast<int>(start_.size()) - 1; }
    const std::vector<int>& cells() const { return cell_; }

    // y = A x.
    void multiply(Vector& y, const Vector& x) const
    {
        each_chunk(rows(), [&](int, int begin, int end) {
            for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
                double sum = 0;
                for (size_t n = first(i); n < first(i + 1); ++n) sum += value_[n] * x[static_cast<size_t>(column_[n])];
                y[i] = sum;
            }
        });
        if (bodies_) add_bodies(y, x);
    }

    // Takes the mean over each component without Dirichlet rows off v.
    void remove_means(Vector& v) const
    {
        if (singular_.empty()) return;
        Vector sum(singular_.size()), count(singular_.size());
        for (size_t i = 0; i < v.size(); ++i)
            if (component_[i] >= 0) {
                sum[static_cast<size_t>(component_[i])] += v[i];
                count[static_cast<size_t>(component_[i])] += 1;
            }
        for (size_t i = 0; i < v.size(); ++i)
            if (component_[i] >= 0) v[i] -= sum[static_cast<size_t>(component_[i])] / count[static_cast<size_t>(component_[i])];
    }

    // What the multigrid is of: where there are no Dirichlet rows, a component's first row is one, which makes the matrix definite.
    // Bodies are left out, as in the other multigrid.
    std::vector<double> definite() const
    {
        std::vector<double> value = value_;
        for (const int row : singular_) value[first(static_cast<size_t>(row))] *= 2;
        return value;
    }
    SparseRows rows_with(const std::vector<double>& value) const { return {rows(), start_.data(), column_.data(), value.data()}; }

    // The values of regions that x asks for: X = (sum t x) / S.
    void start_regions(Vector& x) const
    {
        for (size_t i = cell_.size(); i < static_cast<size_t>(rows()); ++i) {
            double sum = 0;
            for (size_t n = first(i) + 1; n < first(i + 1); ++n) sum -= value_[n] * x[static_cast<size_t>(column_[n])];
            x[i] = sum / value_[first(i)];
        }
    }

private:
    size_t first(size_t row) const { return static_cast<size_t>(start_[row]); }
    int row_of(int index) const { return row_of_[static_cast<size_t>(index + origin_)]; }

    void number_cells(const Poisson<D>& system)
    {
        const auto inverse = std::as_const(*system.inverse_diagonal).view();
        const Grid<D>& grid = system.tiles.grid;
        origin_ = grid.origin;
        row_of_.assign(static_cast<size_t>(grid.storage()), -1);
        for (const Box<D>& box : system.tiles.boxes)
            backend::each(box, [&](Cell<D> c) {
                const int i = inverse.index(c);
                if (!(inverse[i] > 0)) return;
                row_of_[static_cast<size_t>(i + origin_)] = static_cast<int>(cell_.size());
                cell_.push_back(i);
            });
    }

    void push(int column, double value)
    {
        column_.push_back(column);
        value_.push_back(value);
    }

    // Every row begins with its diagonal.
    void write_rows(const Poisson<D>& system)
    {
        // The terms of regions are in the system's Dirichlet terms, too. What is left of a float's sum below this share is round-off.
        constexpr double round_off = 1e-6;
        const PoissonView<D> a = view_of(system);
        const std::vector<RegionTerm> none;
        const std::vector<RegionTerm>& terms = regions_ ? regions_->terms() : none;
        std::vector<int> by_cell(terms.size());
        std::iota(by_cell.begin(), by_cell.end(), 0);
        const auto row_at = [&](int n) { return row_of(terms[static_cast<size_t>(n)].cell); };
        std::stable_sort(by_cell.begin(), by_cell.end(), [&](int l, int r) { return row_at(l) < row_at(r); });

        const int cells = static_cast<int>(cell_.size());
        auto term = by_cell.begin();
        start_.push_back(0);
        for (int row = 0; row < cells; ++row) {
            const int i = cell_[static_cast<size_t>(row)];
            const size_t diagonal = value_.size();
            push(row, 0);
            double conducts = 0, shared = 0;
            for (int axis = 0; axis < D; ++axis)
                for (const int side : {0, 1}) {
                    const int n = a.w[axis].next(axis), other = row_of(side ? i + n : i - n);
                    const double w = static_cast<double>(a.w[axis][side ? i + n : i]);
                    conducts += w;
                    if (w > 0 && other >= 0) push(other, -w);
                }
            for (; term != by_cell.end() && row_at(*term) == row; ++term) {
                const RegionTerm& own = terms[static_cast<size_t>(*term)];
                shared += static_cast<double>(own.t);
                push(cells + own.region, -static_cast<double>(own.t));
            }
            const double all = static_cast<double>(a.dirichlet[i]), left = all - shared;
            const double dirichlet = left > round_off * all ? left : 0;
            value_[diagonal] = conducts + shared + dirichlet;
            dirichlet_.push_back(dirichlet > 0);
            start_.push_back(static_cast<int>(column_.size()));
        }
        auto next = terms.begin();
        for (int region = 0; region < (regions_ ? regions_->count() : 0); ++region) {
            const size_t diagonal = value_.size();
            push(cells + region, 0);
            for (; next != terms.end() && next->region == region; ++next) {
                push(row_of(next->cell), -static_cast<double>(next->t));
                value_[diagonal] += static_cast<double>(next->t);
            }
            dirichlet_.push_back(false);
            start_.push_back(static_cast<int>(column_.size()));
        }
    }

    // Those without Dirichlet rows: a pressure that is known up to a constant.
    void find_components()
    {
        std::vector<int> parent(static_cast<size_t>(rows()));
        std::iota(parent.begin(), parent.end(), 0);
        const auto root_of = [&](int i) {
            while (parent[static_cast<size_t>(i)] != i) {
                int& up = parent[static_cast<size_t>(i)];
                up = parent[static_cast<size_t>(up)];
                i = up;
            }
            return i;
        };
        for (int i = 0; i < rows(); ++i)
            for (size_t n = first(static_cast<size_t>(i)); n < first(static_cast<size_t>(i) + 1); ++n) {
                const int a = root_of(i), b = root_of(column_[n]);
                parent[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
            }
        std::vector<bool> tied(parent.size());
        for (int i = 0; i < rows(); ++i)
            if (dirichlet_[static_cast<size_t>(i)]) tied[static_cast<size_t>(root_of(i))] = true;
        component_.assign(parent.size(), -1);
        for (int i = 0; i < rows(); ++i) {
            const int root = root_of(i);  // the lowest row of its component
            if (tied[static_cast<size_t>(root)]) continue;
            if (root == i) {
                component_[static_cast<size_t>(i)] = static_cast<int>(singular_.size());
                singular_.push_back(i);
            }
            component_[static_cast<size_t>(i)] = component_[static_cast<size_t>(root)];
        }
    }

    // y += J^T S J x, body by body.
    void add_bodies(Vector& y, const Vector& x) const
    {
        constexpr int n = rigid_freedoms<D>;
        const auto& terms = bodies_->terms();
        const double* const response = bodies_->response();
        // Beside a body there may be cells that are no unknowns.
        const auto row_at = [&](size_t t) { return row_of(terms[t].cell); };
        for (size_t begin = 0, end; begin < terms.size(); begin = end) {
            const int body = terms[begin].body;
            double sum[n] = {}, change[n] = {};
            for (end = begin; end < terms.size() && terms[end].body == body; ++end)
                for (int k = 0; k < n && row_at(end) >= 0; ++k)
                    sum[k] += static_cast<double>(terms[end].j[k]) * x[static_cast<size_t>(row_at(end))];
            for (int k = 0; k < n; ++k)
                for (int l = 0; l < n; ++l) change[k] += response[(body * n + k) * n + l] * sum[l];
            for (size_t t = begin; t < end; ++t)
                for (int k = 0; k < n && row_at(t) >= 0; ++k)
                    y[static_cast<size_t>(row_at(t))] += static_cast<double>(terms[t].j[k]) * change[k];
        }
    }

    const RigidRows<D>* bodies_;
    const Regions<D>* regions_ = nullptr;
    int origin_ = 0;
    std::vector<int> row_of_, cell_;  // the row of each cell, or -1; the cell of each row
    std::vector<int> start_, column_;
    std::vector<double> value_;
    std::vector<bool> dirichlet_;  // whether a row has such a term
    std::vector<int> component_;   // of each row, among those without Dirichlet rows, or -1
    std::vector<int> singular_;    // the first row of each of those
};

// x += what solves A (x + it) = b, from r = b - A x.
template <int D>
void iterate(Vector& x, Vector& r, const Matrix<D>& matrix, const Goal& goal, double scale, SolveReport& report)
{
    const HypreModule& hypre = *hypre_module();
    const std::vector<double> definite = matrix.definite();
    const SparseRows rows = matrix.rows_with(definite);
    const std::unique_ptr<void, void (*)(void*)> multigrid(hypre.build(&rows, D), hypre.release);
    if (!multigrid) return;
    const size_t n = r.size();
    Vector z(n), p(n), q(n);
    double before = 0;
    while (report.iterations < goal.max_iterations) {
        ++report.iterations;
        matrix.remove_means(r);
        hypre.precondition(multigrid.get(), r.data(), z.data());
        matrix.remove_means(z);
        const double rz = dot(r, z), beta = before > 0 ? rz / before : 0;
        before = rz;
        for (size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
        matrix.multiply(q, p);
        const double pq = dot(p, q);
        if (!(pq > 0)) return;
        add(x, rz / pq, p);
        add(r, -rz / pq, q);
        report.residual = largest(r) / scale;
        report.converged = report.residual <= goal.tolerance;
        if (report.converged || !std::isfinite(report.residual)) return;
    }
}

}  // namespace

template <int D>
SolveReport solve_hypre(Field<D>& x, Field<D>& b, const Poisson<D>& system, const Goal& goal)
{
    if (on_device()) throw InputError("pressure.solver: \"hypre\" runs on processors alone; use \"multigrid\"");
    if (!hypre_module()) throw InputError("pressure.solver: hypre is not there; use \"multigrid\"");
    const Matrix<D> matrix(system);
    const size_t n = static_cast<size_t>(matrix.rows()), cells = matrix.cells().size();
    const auto xv = x.view(), bv = b.view();
    Vector right(n), at(n), r(n);
    for (size_t i = 0; i < cells; ++i) {
        right[i] = static_cast<double>(bv[matrix.cells()[i]]);
        at[i] = static_cast<double>(xv[matrix.cells()[i]]);
    }
    matrix.start_regions(at);

    SolveReport report;
    const double scale = scale_of(goal, largest(right));
    report.residual = scale;
    if (!(scale > 0)) {
        // Nothing drives the pressure (or b is not a number, which the caller's own check reports).
        for (const int i : matrix.cells()) xv[i] = 0;
        report.converged = scale == 0;
        return report;
    }
    matrix.multiply(r, at);
    for (size_t i = 0; i < n; ++i) r[i] = right[i] - r[i];
    report.residual = largest(r) / scale;
    report.converged = report.residual == 0;
    if (!report.converged) iterate(at, r, matrix, goal, scale, report);
    for (size_t i = 0; i < cells; ++i) {
        xv[matrix.cells()[i]] = static_cast<float>(at[i]);
        bv[matrix.cells()[i]] = static_cast<float>(r[i]);
    }
    return report;
}

template SolveReport solve_hypre(Field<2>&, Field<2>&, const Poisson<2>&, const Goal&);
template SolveReport solve_hypre(Field<3>&, Field<3>&, const Poisson<3>&, const Goal&);

}  // namespace tarn
