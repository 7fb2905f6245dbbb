#pragma once

namespace tarn {

// What a program answers to its caller.
enum ExitCode { exit_done = 0, exit_failed = 1, exit_bad_input = 2, exit_interrupted = 130 };

}  // namespace tarn
