// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"

#include "base/config.hpp"
#include "map/backend.hpp"

#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace barmap::contract {

void set_environment(char const* name, std::string const& value) {
    ::setenv(name, value.c_str(), 1);
    config::read_again();
}

void clear_environment(char const* name) {
    ::unsetenv(name);
    config::read_again();
}

machine::machine(char const* driver_series) {
    set_environment("BARMAP_SIM", "1");
    set_environment("BARMAP_SIM_DRIVER", driver_series);
    // Measuring copy routines takes time and is the business of other tests.
    if (!std::getenv("BARMAP_COPY"))
        set_environment("BARMAP_COPY", "portable");
}

machine::~machine() {
    for (int const ordinal : retained_)
        cuda::api().primary_ctx_release(ordinal);
    for (std::string const& violation : kernel_.violations())
        ADD_FAILURE() << violation;
}

void machine::use(int ordinal) {
    CUcontext context = nullptr;
    expect_success(cuda::api().primary_ctx_retain(&context, ordinal));
    retained_.push_back(ordinal);
    expect_success(cuda::api().ctx_set_current(context));
}

fake::left_over machine::held() const {
    fake::left_over result = fake::left_over::now(kernel_);
    result.driver_objects = driver_objects_();
    return result;
}

void contract_test::SetUp() {
    set_environment("BARMAP_BACKEND", GetParam().backend);
    prepare();
    if (std::string const why = GetParam().prepare(); !why.empty()) {
        char const* const required = std::getenv("BARMAP_REQUIRE");
        if (required && std::strstr(required, GetParam().backend))
            FAIL() << why;
        GTEST_SKIP() << why;
    }
    machine_.emplace(GetParam());
    machine_->use();
}

void contract_test::TearDown() {
    machine_.reset();
}

bool contract_test::adopts(memory_kind kind) {
    for (backend::registration const& entry : backend::registry())
        if (entry.name == GetParam().backend)
            return entry.make(backend::gpu{})->capabilities().can_register(kind);
    return false;
}

std::unique_ptr<memory> contract_test::some_memory(std::size_t bytes) {
    for (memory_kind const kind : kinds_of_device_memory)
        if (adopts(kind))
            return make_memory(kind, bytes);
    ADD_FAILURE() << "the backend adopts nothing";
    return nullptr;
}

char const* no_simulated_gpu_in_the_driver() {
    return ::access("/dev/nvidiactl", F_OK) == 0 ? "in the driver's list" : "nvidiactl";
}

void expect_refusal(refusal const& seen, errc code, std::string_view words,
                    std::string_view advice) {
    EXPECT_EQ(seen.code, code) << seen.text;
    EXPECT_NE(seen.text.find(words), std::string::npos) << seen.text << "\nlacks: " << words;
    EXPECT_NE(seen.advice.find(advice), std::string::npos) << seen.advice << "\nlacks: " << advice;
}

} // namespace barmap::contract
