#include "tarn/backend/hypre.h"

#if defined(TARN_HYPRE_BUILT)
#include <cstdlib>
#include <filesystem>
#include <initializer_list>

#include <dlfcn.h>
#endif

namespace tarn {

namespace {

// Where it was built, or beside the program where that is installed.
const HypreModule* load()
{
#if defined(TARN_HYPRE_BUILT)
    // Its linear algebra would start threads of its own, which the small matrices of the coarsest level do not need.
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    for (const std::filesystem::path& file : {program / TARN_HYPRE_INSTALLED, std::filesystem::path(TARN_HYPRE_BUILT)})
        if (void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
            if (void* const found = dlsym(library, "tarn_hypre_module"))
                return reinterpret_cast<decltype(&tarn_hypre_module)>(found)();
#endif
    return nullptr;
}

}  // namespace

const HypreModule* hypre_module()
{
    static const HypreModule* const module = load();
    return module;
}

}  // namespace tarn
