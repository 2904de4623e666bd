// SPDX-License-Identifier: MIT
#include "program/program.hpp"

int main(int argc, char** argv) {
    return barmap::tool::run_program(argc, argv);
}
