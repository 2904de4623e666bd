// SPDX-License-Identifier: MIT
// A driver whose functions have versions, so that dlvsym finds them.
extern "C" {

__attribute__((visibility("default"))) int cuMemcpyBatchAsync() {
    return 12;
}

__attribute__((visibility("default"))) int cuGetProcAddress() {
    return 13;
}

} // extern "C"
