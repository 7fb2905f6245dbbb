#include "tarn/run/interrupt.h"

#include <csignal>
#include <iterator>

#include <unistd.h>

namespace tarn {
namespace {

volatile std::sig_atomic_t arrived = 0;

constexpr int noted[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int ignored[] = {SIGPIPE, SIGXFSZ};
struct sigaction before[std::size(noted) + std::size(ignored)];

void note(int)
{
    arrived = 1;
    // A second signal of any kind finds the default action, which ends the program.
    for (int s : noted) std::signal(s, SIG_DFL);
    constexpr char text[] = "\nstopping after this step; once more stops at once, without saving\n";
    [[maybe_unused]] const auto n = write(STDERR_FILENO, text, sizeof text - 1);
}

}  // namespace

Interrupts::Interrupts()
{
    arrived = 0;
    size_t i = 0;
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    action.sa_handler = note;
    for (int s : noted) sigaction(s, &action, &before[i++]);
    action.sa_handler = SIG_IGN;
    for (int s : ignored) sigaction(s, &action, &before[i++]);
}

Interrupts::~Interrupts()
{
    size_t i = 0;
    for (int s : noted) sigaction(s, &before[i++], nullptr);
    for (int s : ignored) sigaction(s, &before[i++], nullptr);
}

bool interrupted() { return arrived != 0; }

}  // namespace tarn
