#include "tarn/pressure/regions.h"

#include <algorithm>
#include <utility>

namespace tarn {

namespace {

constexpr int chunk_terms = 64;

template <int D>
Cell<D> cell_of(const Grid<D>& grid, int i)
{
    Cell<D> c;
    for (int a = D - 1; a > 0; --a) {
        c[a] = i / grid.stride[a];
        i -= c[a] * grid.stride[a];
    }
    c[0] = i;
    return c;
}

template <class T>
void upload(Memory<T>& memory, const std::vector<T>& values)
{
    backend::copy(storage_for(memory, static_cast<int>(values.size())), values.data(), values.size() * sizeof(T));
}

}  // namespace

template <int D>
void Regions<D>::set(int count, std::vector<RegionTerm> terms, const std::vector<double>& q, const Grid<D>& grid)
{
    count_ = count;
    grid_ = grid;
    if (count == 0) return;
    std::sort(terms.begin(), terms.end(), [](const RegionTerm& a, const RegionTerm& b) {
        return a.region != b.region ? a.region < b.region : a.cell < b.cell;
    });
    terms_.clear();
    for (const RegionTerm& term : terms)
        if (!terms_.empty() && terms_.back().region == term.region && terms_.back().cell == term.cell)
            terms_.back().t += term.t;
        else
            terms_.push_back(term);

    const int n = static_cast<int>(terms_.size());
    std::vector<double> total(static_cast<size_t>(count));
    std::vector<int> chunk, first_chunk;
    for (int i = 0; i < n; ++i) {
        const RegionTerm& term = terms_[static_cast<size_t>(i)];
        total[static_cast<size_t>(term.region)] += static_cast<double>(term.t);
        const bool first = i == 0 || terms_[static_cast<size_t>(i - 1)].region != term.region;
        if (first) first_chunk.push_back(static_cast<int>(chunk.size()));
        if (first || i - chunk.back() == chunk_terms) chunk.push_back(i);
    }
    TARN_CHECK_EQ(static_cast<int>(first_chunk.size()), count);
    chunks_ = static_cast<int>(chunk.size());
    chunk.push_back(n);
    first_chunk.push_back(chunks_);

    std::vector<int> cell_term(terms_.size());
    for (int i = 0; i < n; ++i) cell_term[static_cast<size_t>(i)] = i;
    const auto cell_at = [&](int term) { return terms_[static_cast<size_t>(term)].cell; };
    std::stable_sort(cell_term.begin(), cell_term.end(), [&](int a, int b) { return cell_at(a) < cell_at(b); });
    std::vector<int> cell, cell_start;
    for (int i = 0; i < n; ++i) {
        const int own = cell_at(cell_term[static_cast<size_t>(i)]);
        if (!cell.empty() && cell.back() == own) continue;
        cell.push_back(own);
        cell_start.push_back(i);
    }
    cells_ = static_cast<int>(cell.size());
    cell_start.push_back(n);

    upload(term_, terms_);
    upload(chunk_, chunk);
    upload(first_chunk_, first_chunk);
    upload(cell_, cell);
    upload(cell_start_, cell_start);
    upload(cell_term_, cell_term);
    upload(total_, total);
    upload(q_, q);
    (void)storage_for(partial_, chunks_);
    (void)storage_for(value_, count_);
    (void)storage_for(change_, count_);
    (void)storage_for(saved_, cells_);
}

template <int D>
void Regions<D>::coarsen(Regions& to, const Grid<D>& coarse) const
{
    if (count_ == 0) {
        to.count_ = 0;
        return;
    }
    std::vector<RegionTerm> terms = terms_;
    for (RegionTerm& term : terms) {
        Cell<D> c = cell_of<D>(grid_, term.cell);
        for (int a = 0; a < D; ++a) c[a] /= 2;
        term.cell = coarse.index(c) - coarse.origin;
        term.t *= 0.5f;
    }
    to.set(count_, std::move(terms), std::vector<double>(static_cast<size_t>(count_)), coarse);
}

// The sum of t x of every chunk.
template <int D>
void Regions<D>::sum_terms(const Field<D>& x) const
{
    const auto xv = x.view();
    const RegionTerm* const term = term_.data();
    const int* const chunk = chunk_.data();
    double* const partial = partial_.data();
    parallel_range("regions", chunks_, [=] TARN_KERNEL(int n) {
        double sum = 0;
        for (int i = chunk[n]; i < chunk[n + 1]; ++i)
            sum += static_cast<double>(term[i].t) * static_cast<double>(xv[term[i].cell]);
        partial[n] = sum;
    });
}

// f += t change.
template <int D>
void Regions<D>::add_changes(Field<D>& f) const
{
    const auto fv = f.view();
    const RegionTerm* const term = term_.data();
    const int *const cell = cell_.data(), *const start = cell_start_.data(), *const list = cell_term_.data();
    const double* const change = change_.data();
    parallel_range("regions", cells_, [=] TARN_KERNEL(int n) {
        double sum = 0;
        for (int i = start[n]; i < start[n + 1]; ++i)
            sum += static_cast<double>(term[list[i]].t) * change[term[list[i]].region];
        fv[cell[n]] = static_cast<float>(static_cast<double>(fv[cell[n]]) + sum);
    });
}

template <int D>
void Regions<D>::add_sources(Field<D>& b) const
{
    const double *const q = q_.data(), *const total = total_.data();
    double* const change = change_.data();
    parallel_range("regions", count_, [=] TARN_KERNEL(int k) { change[k] = q[k] / total[k]; });
    add_changes(b);
}

// change = sign (sum t x) / S.
template <int D>
void Regions<D>::find_means(const Field<D>& x, double sign) const
{
    sum_terms(x);
    const int* const first = first_chunk_.data();
    const double *const partial = partial_.data(), *const total = total_.data();
    double* const change = change_.data();
    parallel_range("regions", count_, [=] TARN_KERNEL(int k) {
        double sum = 0;
        for (int n = first[k]; n < first[k + 1]; ++n) sum += partial[n];
        change[k] = sign * sum / total[k];
    });
}

template <int D>
void Regions<D>::subtract_shared(Field<D>& z, const Field<D>& p, double* dot) const
{
    find_means(p, -1);
    add_changes(z);
    const double *const total = total_.data(), *const change = change_.data();
    const int regions = count_;
    parallel_range("regions", 1, [=] TARN_KERNEL(int) {
        double sum = 0;
        for (int k = 0; k < regions; ++k) sum += total[k] * change[k] * change[k];
        *dot -= sum;
    });
}

template <int D>
void Regions<D>::add_shared(Field<D>& r, const Field<D>& x) const
{
    find_means(x, 1);
    add_changes(r);
}

template <int D>
void Regions<D>::start(const Field<D>& b) const
{
    const auto bv = b.view();
    const int* const cell = cell_.data();
    float* const saved = saved_.data();
    double* const value = value_.data();
    parallel_range("regions", count_, [=] TARN_KERNEL(int k) { value[k] = 0; });
    parallel_range("regions", cells_, [=] TARN_KERNEL(int n) { saved[n] = bv[cell[n]]; });
}

template <int D>
void Regions<D>::relax(const Field<D>& x, Field<D>& b) const
{
    find_means(x, 1);
    double *const change = change_.data(), *const value = value_.data();
    parallel_range("regions", count_, [=] TARN_KERNEL(int k) {
        const double now = change[k];
        change[k] = now - value[k];
        value[k] = now;
    });
    add_changes(b);
}

template <int D>
void Regions<D>::finish(const Field<D>& x, Field<D>& b, double* dot) const
{
    const auto bv = b.view();
    const auto xv = x.view();
    const int* const cell = cell_.data();
    const float* const saved = saved_.data();
    double* const partial = partial_.data();  // there are no fewer chunks of terms than of cells
    const int cells = cells_, chunks = (cells_ + chunk_terms - 1) / chunk_terms;
    parallel_range("regions", chunks, [=] TARN_KERNEL(int n) {
        const int end = (n + 1) * chunk_terms < cells ? (n + 1) * chunk_terms : cells;
        double sum = 0;
        for (int i = n * chunk_terms; i < end; ++i) {
            const int c = cell[i];
            sum += (static_cast<double>(bv[c]) - static_cast<double>(saved[i])) * static_cast<double>(xv[c]);
            bv[c] = saved[i];
        }
        partial[n] = sum;
    });
    parallel_range("regions", 1, [=] TARN_KERNEL(int) {
        double sum = 0;
        for (int n = 0; n < chunks; ++n) sum += partial[n];
        *dot -= sum;
    });
}

template <int D>
std::vector<double> Regions<D>::solve(const Field<D>& x) const
{
    find_means(x, 1);
    const double *const mean = change_.data(), *const total = total_.data(), *const q = q_.data();
    double* const value = value_.data();
    parallel_range("regions", count_, [=] TARN_KERNEL(int k) { value[k] = q[k] / total[k] + mean[k]; });
    std::vector<double> values(static_cast<size_t>(count_));
    backend::copy(values.data(), value, values.size() * sizeof(double));
    return values;
}

template class Regions<2>;
template class Regions<3>;

}  // namespace tarn
