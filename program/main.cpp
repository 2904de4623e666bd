// SPDX-License-Identifier: MIT
#include "command/program.hpp"

int main(int argc, char** argv) {
    return barmap::tool::run_program(argc, argv);
}
