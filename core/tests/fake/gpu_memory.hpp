// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include <sys/mman.h>

namespace barmap::fake::rm {
class memory_file;
}

/// The fake GPU: memory as it reaches it, its address spaces, its channels and its copy engine.
/// It does what the interface allows and a program might not expect, such as late and reordered
/// writes. Guarded by the fake kernel's lock.
namespace barmap::fake::gpu {

/// Memory that the GPU reaches. Every access is inside it; what fails is a fault of the GPU.
class memory {
public:
    virtual ~memory() = default;
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    [[nodiscard]] virtual bool of_host() const = 0;
    /// Whether a link lies before it, on which what is written is under way until a flush.
    [[nodiscard]] virtual bool is_remote() const { return of_host(); }
    [[nodiscard]] virtual bool read(std::uint64_t offset, void* to, std::size_t bytes) const = 0;
    [[nodiscard]] virtual bool write(std::uint64_t offset, void const* from, std::size_t bytes) = 0;
    /// An aligned word, written and read at once.
    [[nodiscard]] virtual bool store(std::uint64_t offset, std::uint32_t word) = 0;
    [[nodiscard]] virtual bool fetch(std::uint64_t offset, std::uint32_t& word) const = 0;
};

/// Memory of this process. It is reached by system calls alone, so that an address that has gone is
/// an error and not a signal, and so that ThreadSanitizer takes the GPU for no thread.
class process_memory {
public:
    process_memory();
    process_memory(process_memory const&) = delete;
    process_memory& operator=(process_memory const&) = delete;
    ~process_memory();

    [[nodiscard]] bool read(std::uint64_t address, void* to, std::size_t bytes) const;
    [[nodiscard]] bool write(std::uint64_t address, void const* from, std::size_t bytes) const;
    [[nodiscard]] static bool store(std::uint64_t address, std::uint32_t word);
    [[nodiscard]] static bool fetch(std::uint64_t address, std::uint32_t& word);

private:
    int transit_; ///< a file that bytes go through
};

/// Video memory: a file, which the CPU may have mapped elsewhere.
class video_memory final : public memory {
public:
    /// @param with_words maps it, so that it has words: for memory that RM has made. CUDA's is not
    ///        mapped, as the simulated GPU takes what is mapped for a use of BAR1.
    video_memory(std::shared_ptr<rm::memory_file> file, bool with_words);
    video_memory(video_memory const&) = delete;
    video_memory& operator=(video_memory const&) = delete;
    ~video_memory() override;

    [[nodiscard]] std::uint64_t size() const override;
    [[nodiscard]] bool of_host() const override { return false; }
    [[nodiscard]] bool read(std::uint64_t offset, void* to, std::size_t bytes) const override;
    [[nodiscard]] bool write(std::uint64_t offset, void const* from, std::size_t bytes) override;
    [[nodiscard]] bool store(std::uint64_t offset, std::uint32_t word) override;
    [[nodiscard]] bool fetch(std::uint64_t offset, std::uint32_t& word) const override;
    [[nodiscard]] bool has_words() const noexcept { return words_ != nullptr; }

    // An aligned word, of memory with words.
    [[nodiscard]] std::uint32_t load(std::uint64_t offset) const;
    [[nodiscard]] std::uint32_t exchange(std::uint64_t offset, std::uint32_t word);

private:
    [[nodiscard]] std::uint32_t* word_at(std::uint64_t offset) const;

    std::shared_ptr<rm::memory_file> file_;
    std::byte* words_ = nullptr;
};

/// Pages of this process: those that are at the address now, whatever is mapped there later. Of
/// private memory, of which there is no second mapping, it is what is at the address at any time.
class host_memory final : public memory {
public:
    host_memory(std::uint64_t address, std::uint64_t size)
        : address_(address), size_(size),
          second_(::mremap(reinterpret_cast<void*>(address), 0, size, MREMAP_MAYMOVE)) {
        if (second_ != MAP_FAILED)
            address_ = reinterpret_cast<std::uintptr_t>(second_);
    }
    ~host_memory() override {
        if (second_ != MAP_FAILED)
            ::munmap(second_, size_);
    }

    [[nodiscard]] std::uint64_t size() const override { return size_; }
    [[nodiscard]] bool of_host() const override { return true; }
    [[nodiscard]] bool read(std::uint64_t offset, void* to, std::size_t bytes) const override {
        return process_.read(address_ + offset, to, bytes);
    }
    [[nodiscard]] bool write(std::uint64_t offset, void const* from, std::size_t bytes) override {
        return process_.write(address_ + offset, from, bytes);
    }
    [[nodiscard]] bool store(std::uint64_t offset, std::uint32_t word) override {
        return process_memory::store(address_ + offset, word);
    }
    [[nodiscard]] bool fetch(std::uint64_t offset, std::uint32_t& word) const override {
        return process_memory::fetch(address_ + offset, word);
    }

private:
    std::uint64_t address_, size_;
    void* second_; ///< a second mapping of shared memory
    process_memory process_;
};

/// What addresses mean to a channel.
class address_space {
public:
    address_space() = default;
    address_space(address_space const&) = delete;
    address_space& operator=(address_space const&) = delete;
    virtual ~address_space() = default;

    /// A part of a memory, from an address on.
    struct place {
        std::shared_ptr<gpu::memory> of;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0; ///< from there to its end
    };

    /// Maps a part of a memory at addresses that nothing had for long. @return the first
    std::uint64_t map(std::shared_ptr<memory> of, std::uint64_t offset, std::uint64_t length);
    void unmap(std::uint64_t address) { mapped_.erase(address); }

    /// What is at an address, of at least this many bytes; of nothing where they are not mapped.
    [[nodiscard]] virtual place find(std::uint64_t address, std::uint64_t bytes) const;

    /// Whether another client made it, so that this one maps nothing there.
    [[nodiscard]] virtual bool is_foreign() const noexcept { return false; }
    /// The GPU that CUDA uses it on, or -1.
    [[nodiscard]] virtual int ordinal_of_cuda() const noexcept { return -1; }

private:
    std::map<std::uint64_t, place> mapped_;
    std::uint64_t next_ = 0;
};

} // namespace barmap::fake::gpu
