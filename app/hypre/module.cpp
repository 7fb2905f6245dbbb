// BoomerAMG for the program; see tarn/backend/hypre.h. Each process has matrices of its own, on MPI_COMM_SELF: whether it was started
// by mpirun does not matter.

#include "tarn/backend/hypre.h"

#include <cstdlib>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>

namespace {

using tarn::HypreModule;
using tarn::SparseRows;

void finish()
{
    int done = 0;
    MPI_Finalized(&done);
    if (done) return;
    HYPRE_Finalize();
    MPI_Finalize();
}

void start()
{
    static const bool started = [] {
        int before = 0;
        MPI_Initialized(&before);
        if (!before) MPI_Init(nullptr, nullptr);
        HYPRE_Init();
        if (!before) std::atexit(finish);
        return true;
    }();
    (void)started;
}

struct Multigrid {
    std::vector<HYPRE_BigInt> numbers;  // of all rows
    HYPRE_IJMatrix matrix = nullptr;
    HYPRE_IJVector from = nullptr, to = nullptr;
    HYPRE_ParCSRMatrix a = nullptr;
    HYPRE_ParVector r = nullptr, z = nullptr;
    HYPRE_Solver solver = nullptr;

    explicit Multigrid(int rows) : numbers(static_cast<size_t>(rows)) { std::iota(numbers.begin(), numbers.end(), 0); }
    ~Multigrid()
    {
        if (solver) HYPRE_BoomerAMGDestroy(solver);
        if (from) HYPRE_IJVectorDestroy(from);
        if (to) HYPRE_IJVectorDestroy(to);
        if (matrix) HYPRE_IJMatrixDestroy(matrix);
    }
    Multigrid(const Multigrid&) = delete;
    Multigrid& operator=(const Multigrid&) = delete;

    int rows() const { return static_cast<int>(numbers.size()); }
};

void assemble(Multigrid& m, const SparseRows& rows)
{
    const HYPRE_BigInt last = rows.rows - 1;
    std::vector<HYPRE_Int> lengths(m.numbers.size());
    for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = rows.start[i + 1] - rows.start[i];
    HYPRE_IJMatrixCreate(MPI_COMM_SELF, 0, last, 0, last, &m.matrix);
    HYPRE_IJMatrixSetObjectType(m.matrix, HYPRE_PARCSR);
    HYPRE_IJMatrixSetRowSizes(m.matrix, lengths.data());
    HYPRE_IJMatrixInitialize(m.matrix);
    HYPRE_IJMatrixSetValues(m.matrix, rows.rows, lengths.data(), m.numbers.data(), rows.column, rows.value);
    HYPRE_IJMatrixAssemble(m.matrix);
    HYPRE_IJMatrixGetObject(m.matrix, reinterpret_cast<void**>(&m.a));
    for (const auto& [vector, object] : {std::pair{&m.from, &m.r}, std::pair{&m.to, &m.z}}) {
        HYPRE_IJVectorCreate(MPI_COMM_SELF, 0, last, vector);
        HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR);
        HYPRE_IJVectorInitialize(*vector);
        HYPRE_IJVectorAssemble(*vector);
        HYPRE_IJVectorGetObject(*vector, reinterpret_cast<void**>(object));
    }
}

// The options that hypre's manual recommends for such systems: HMIS coarsening, aggressive on the finest level, extended+i
// interpolation of at most four values. The sweeps down and up are each other's transpose, so that the cycle is symmetric.
void set_up(Multigrid& m, int dimension)
{
    constexpr int hmis = 10, extended_i = 6, forward = 13, backward = 14, gaussian = 9;
    HYPRE_BoomerAMGCreate(&m.solver);
    HYPRE_BoomerAMGSetPrintLevel(m.solver, 0);
    HYPRE_BoomerAMGSetCoarsenType(m.solver, hmis);
    HYPRE_BoomerAMGSetAggNumLevels(m.solver, 1);
    HYPRE_BoomerAMGSetInterpType(m.solver, extended_i);
    HYPRE_BoomerAMGSetPMaxElmts(m.solver, 4);
    HYPRE_BoomerAMGSetStrongThreshold(m.solver, dimension == 2 ? 0.25 : 0.5);
    HYPRE_BoomerAMGSetCycleRelaxType(m.solver, forward, 1);
    HYPRE_BoomerAMGSetCycleRelaxType(m.solver, backward, 2);
    HYPRE_BoomerAMGSetCycleRelaxType(m.solver, gaussian, 3);
    HYPRE_BoomerAMGSetMaxIter(m.solver, 1);
    HYPRE_BoomerAMGSetTol(m.solver, 0);
    HYPRE_BoomerAMGSetup(m.solver, m.a, m.r, m.z);
}

void* build(const SparseRows* rows, int dimension)
{
    start();
    HYPRE_ClearAllErrors();
    auto m = std::make_unique<Multigrid>(rows->rows);
    assemble(*m, *rows);
    set_up(*m, dimension);
    return HYPRE_GetError() ? nullptr : m.release();
}

void precondition(void* multigrid, const double* r, double* z)
{
    Multigrid& m = *static_cast<Multigrid*>(multigrid);
    HYPRE_IJVectorSetValues(m.from, m.rows(), m.numbers.data(), r);
    HYPRE_ParVectorSetConstantValues(m.z, 0);
    HYPRE_BoomerAMGSolve(m.solver, m.a, m.r, m.z);
    HYPRE_IJVectorGetValues(m.to, m.rows(), m.numbers.data(), z);
}

void release(void* multigrid) { delete static_cast<Multigrid*>(multigrid); }

constexpr HypreModule module{build, precondition, release};

}  // namespace

const HypreModule* tarn_hypre_module() { return &module; }
