#pragma once
// Ctrl-C and its kin: the first asks the run to stop after the step in hand, the second ends the program at once.

namespace tarn {

// While one lives, SIGINT, SIGTERM and SIGHUP are noted instead of deadly, each once; a full pipe or a file-size limit
// gives an error where the writing happens instead of a signal.
class Interrupts {
public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;
};

// Whether one of them arrived since the newest Interrupts was made.
bool interrupted();

}  // namespace tarn
