#include "tarn/base/version.h"

namespace tarn {

const char* version() { return TARN_VERSION; }

}  // namespace tarn
