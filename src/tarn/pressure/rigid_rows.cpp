#include "tarn/pressure/rigid_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tarn {

namespace {

constexpr int terms_in_chunk = 64;

template <class T>
void send(Memory<T>& memory, const std::vector<T>& values)
{
    if (!values.empty())
        backend::copy(storage_for(memory, static_cast<int>(values.size())), values.data(), values.size() * sizeof(T));
}

}  // namespace

template <int D>
void RigidRows<D>::set(std::vector<RigidTerm<D>> terms, const std::vector<Response>& response)
{
    std::stable_sort(terms.begin(), terms.end(), [](const RigidTerm<D>& a, const RigidTerm<D>& b) {
        return std::pair(a.body, a.cell) < std::pair(b.body, b.cell);
    });
    terms_.clear();
    for (const RigidTerm<D>& term : terms) {
        const bool again = !terms_.empty() && terms_.back().body == term.body && terms_.back().cell == term.cell;
        if (!again) terms_.push_back(term);
        for (int k = 0; again && k < freedoms; ++k) terms_.back().j[k] += term.j[k];
    }
    count_ = static_cast<int>(response.size());
    terms_count_ = static_cast<int>(terms_.size());
    if (!any()) return;

    // Chunks of one body's terms each.
    std::vector<int> chunk, first_chunk(static_cast<size_t>(count_) + 1);
    for (int i = 0, body = -1; i < terms_count_; ++i) {
        const int own = terms_[static_cast<size_t>(i)].body;
        for (; body < own; ++body) first_chunk[static_cast<size_t>(body + 1)] = static_cast<int>(chunk.size());
        const int begun = chunk.empty() ? -1 : chunk.back();
        if (begun < 0 || terms_[static_cast<size_t>(begun)].body != own || i - begun == terms_in_chunk) chunk.push_back(i);
    }
    chunks_ = static_cast<int>(chunk.size());
    for (int body = terms_.back().body; body < count_; ++body) first_chunk[static_cast<size_t>(body + 1)] = chunks_;
    chunk.push_back(terms_count_);

    std::vector<int> by_cell(terms_.size()), cell_start;
    std::iota(by_cell.begin(), by_cell.end(), 0);
    const auto cell_of = [&](int i) { return terms_[static_cast<size_t>(i)].cell; };
    std::stable_sort(by_cell.begin(), by_cell.end(), [&](int a, int b) { return cell_of(a) < cell_of(b); });
    for (size_t i = 0; i < by_cell.size(); ++i)
        if (i == 0 || cell_of(by_cell[i]) != cell_of(by_cell[i - 1])) cell_start.push_back(static_cast<int>(i));
    cells_ = static_cast<int>(cell_start.size());
    cell_start.push_back(terms_count_);

    std::vector<double> flat;
    for (const Response& s : response)
        for (const Freedoms& row : s) flat.insert(flat.end(), row.begin(), row.end());
    send(term_, terms_);
    send(chunk_, chunk);
    send(first_chunk_, first_chunk);
    send(by_cell_, by_cell);
    send(cell_start_, cell_start);
    send(response_, flat);
    (void)storage_for(partial_, chunks_ * freedoms);
    (void)storage_for(sum_, count_ * freedoms);
    (void)storage_for(change_, count_ * freedoms);
}

// The sums J x of every body, and S times them.
template <int D>
void RigidRows<D>::sum_terms(const Field<D>& x) const
{
    constexpr int n = freedoms;
    const auto xv = x.view();
    const RigidTerm<D>* const term = term_.data();
    const int *const chunk = chunk_.data(), *const first = first_chunk_.data();
    double *const partial = partial_.data(), *const sum = sum_.data(), *const change = change_.data();
    const double* const response = response_.data();
    parallel_range("rigid bodies", chunks_, [=] TARN_KERNEL(int c) {
        double total[n] = {};
        for (int i = chunk[c]; i < chunk[c + 1]; ++i)
            for (int k = 0; k < n; ++k)
                total[k] += static_cast<double>(term[i].j[k]) * static_cast<double>(xv[term[i].cell]);
        for (int k = 0; k < n; ++k) partial[c * n + k] = total[k];
    });
    parallel_range("rigid bodies", count_, [=] TARN_KERNEL(int body) {
        double total[n] = {};
        for (int c = first[body]; c < first[body + 1]; ++c)
            for (int k = 0; k < n; ++k) total[k] += partial[c * n + k];
        for (int k = 0; k < n; ++k) {
            double moved = 0;
            for (int l = 0; l < n; ++l) moved += response[(body * n + k) * n + l] * total[l];
            sum[body * n + k] = total[k];
            change[body * n + k] = moved;
        }
    });
}

// f += sign J^T change.
template <int D>
void RigidRows<D>::add_changes(Field<D>& f, float sign) const
{
    constexpr int n = freedoms;
    const auto fv = f.view();
    const RigidTerm<D>* const term = term_.data();
    const int *const list = by_cell_.data(), *const start = cell_start_.data();
    const double* const change = change_.data();
    parallel_range("rigid bodies", cells_, [=] TARN_KERNEL(int c) {
        double flow = 0;
        for (int i = start[c]; i < start[c + 1]; ++i) {
            const RigidTerm<D>& own = term[list[i]];
            for (int k = 0; k < n; ++k) flow += static_cast<double>(own.j[k]) * change[own.body * n + k];
        }
        float& to = fv[term[list[start[c]]].cell];
        to = static_cast<float>(static_cast<double>(to) + static_cast<double>(sign) * flow);
    });
}

template <int D>
void RigidRows<D>::add_product(Field<D>& z, const Field<D>& p, double* dot) const
{
    sum_terms(p);
    add_changes(z, 1);
    const double *const sum = sum_.data(), *const change = change_.data();
    const int all = count_ * freedoms;
    parallel_range("rigid bodies", 1, [=] TARN_KERNEL(int) {
        double total = 0;
        for (int k = 0; k < all; ++k) total += sum[k] * change[k];
        *dot += total;
    });
}

template <int D>
void RigidRows<D>::subtract_product(Field<D>& r, const Field<D>& x) const
{
    sum_terms(x);
    add_changes(r, -1);
}

template <int D>
std::vector<typename RigidRows<D>::Freedoms> RigidRows<D>::sums(const Field<D>& x) const
{
    std::vector<Freedoms> result(static_cast<size_t>(count_));
    if (!any()) return result;
    sum_terms(x);
    backend::copy(result.data(), sum_.data(), result.size() * sizeof(Freedoms));
    return result;
}

template class RigidRows<2>;
template class RigidRows<3>;

}  // namespace tarn
