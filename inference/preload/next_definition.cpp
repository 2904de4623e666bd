// SPDX-License-Identifier: MIT
#include "next_definition.hpp"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <link.h>

/// This library's.
extern "C" __attribute__((visibility("hidden"))) ElfW(Dyn) const own_dynamic[] asm("_DYNAMIC");

namespace barmap::memcpy_dropin {
namespace {

/// A loaded library's tables for name look-up.
struct symbol_table {
    ElfW(Addr) base = 0;
    ElfW(Sym) const* symbols = nullptr;
    char const* names = nullptr;
    std::uint32_t const* hashes = nullptr; ///< of DT_GNU_HASH
};

/// The loader has replaced offsets by addresses, but not those of the kernel's own library.
template <class T>
T const* at(ElfW(Addr) base, ElfW(Addr) value) noexcept {
    return reinterpret_cast<T const*>(value < base ? value + base : value);
}

symbol_table table_of(ElfW(Addr) base, ElfW(Dyn) const* dynamic) noexcept {
    symbol_table found{base};
    for (ElfW(Dyn) const* each = dynamic; each->d_tag != DT_NULL; ++each) {
        if (each->d_tag == DT_SYMTAB)
            found.symbols = at<ElfW(Sym)>(base, each->d_un.d_ptr);
        else if (each->d_tag == DT_STRTAB)
            found.names = at<char>(base, each->d_un.d_ptr);
        else if (each->d_tag == DT_GNU_HASH)
            found.hashes = at<std::uint32_t>(base, each->d_un.d_ptr);
    }
    return found;
}

std::uint32_t gnu_hash(char const* name) noexcept {
    std::uint32_t hash = 5381;
    for (; *name; ++name)
        hash = hash * 33 + static_cast<unsigned char>(*name);
    return hash;
}

void* find(symbol_table const& table, char const* name) noexcept {
    if (!table.symbols || !table.names || !table.hashes)
        return nullptr;
    // Buckets, the first symbol that is hashed, words of a filter; then filter, buckets, chains.
    std::uint32_t const buckets = table.hashes[0], first = table.hashes[1];
    std::uint32_t const* const bucket =
        table.hashes + 4 + table.hashes[2] * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
    std::uint32_t const* const chain = bucket + buckets;
    std::uint32_t const hash = gnu_hash(name);
    std::uint32_t index = buckets == 0 ? 0 : bucket[hash % buckets];
    if (index < first)
        return nullptr;
    for (;; ++index) {
        std::uint32_t const of_symbol = chain[index - first]; // the last bit says: the last one
        ElfW(Sym) const& symbol = table.symbols[index];
        if ((of_symbol | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF &&
            (symbol.st_info & 0xf) == STT_FUNC &&
            std::strcmp(table.names + symbol.st_name, name) == 0)
            return reinterpret_cast<void*>(table.base + symbol.st_value);
        if ((of_symbol & 1) != 0)
            return nullptr;
    }
}

struct walk {
    char const* name;
    bool is_behind = false; ///< this library
    void* found = nullptr;
};

int look(dl_phdr_info* library, std::size_t, void* state) noexcept {
    auto& how = *static_cast<walk*>(state);
    for (ElfW(Half) i = 0; i < library->dlpi_phnum; ++i) {
        if (library->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        auto const* const dynamic =
            reinterpret_cast<ElfW(Dyn) const*>(library->dlpi_addr + library->dlpi_phdr[i].p_vaddr);
        if (how.is_behind)
            how.found = find(table_of(library->dlpi_addr, dynamic), how.name);
        how.is_behind |= dynamic == own_dynamic;
    }
    return how.found != nullptr;
}

} // namespace

void* next_definition(char const* name) noexcept {
    walk how{name};
    ::dl_iterate_phdr(look, &how); // in the order of loading
    return how.found;
}

} // namespace barmap::memcpy_dropin
