#include "engine/wire/compression.h"

#include <snappy-sinksource.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::wire {
namespace {

constexpr int kZlibLevel = Z_DEFAULT_COMPRESSION;
constexpr int kZstdLevel = 3;

bool DecompressSnappy(std::string_view compressed, char* to, size_t size) {
  size_t promised = 0;  // checked first: RawUncompress trusts it
  return snappy::GetUncompressedLength(compressed.data(), compressed.size(), &promised) && promised == size &&
         snappy::RawUncompress(compressed.data(), compressed.size(), to);
}

bool DecompressZlib(std::string_view compressed, char* to, size_t size) {
  uLongf filled = size;
  uLong consumed = compressed.size();
  return uncompress2(reinterpret_cast<Bytef*>(to), &filled, reinterpret_cast<const Bytef*>(compressed.data()),
                     &consumed) == Z_OK &&
         filled == size;
}

bool DecompressZstd(std::string_view compressed, char* to, size_t size) {
  return ZSTD_decompress(to, size, compressed.data(), compressed.size()) == size;
}

bool DecompressNoop(std::string_view compressed, char* to, size_t size) {
  if (compressed.size() != size) return false;
  std::memcpy(to, compressed.data(), size);
  return true;
}

}  // namespace

Result<Compressor> CompressorOf(uint8_t id) {
  if (id > static_cast<uint8_t>(Compressor::kZstd)) {
    return Status(Code::kProtocolError,
                  StrCat("unknown compressor ", id, ": known are 0 noop, 1 snappy, 2 zlib, 3 zstd"));
  }
  return static_cast<Compressor>(id);
}

Status Decompress(Compressor compressor, std::string_view compressed, char* to, size_t size) {
  bool done = false;
  switch (compressor) {
    case Compressor::kNoop: done = DecompressNoop(compressed, to, size); break;
    case Compressor::kSnappy: done = DecompressSnappy(compressed, to, size); break;
    case Compressor::kZlib: done = DecompressZlib(compressed, to, size); break;
    case Compressor::kZstd: done = DecompressZstd(compressed, to, size); break;
  }
  if (done) return {};
  return Status(Code::kProtocolError,
                StrCat("the compressed message is damaged, or its size is not the ", size, " bytes that it claims"));
}

void Compress(Compressor compressor, std::string_view bytes, std::string& out) {
  const size_t start = out.size();
  switch (compressor) {
    case Compressor::kNoop: out.append(bytes); return;
    case Compressor::kSnappy: {
      out.resize(start + snappy::MaxCompressedLength(bytes.size()));
      size_t size = 0;
      snappy::RawCompress(bytes.data(), bytes.size(), out.data() + start, &size);
      out.resize(start + size);
      return;
    }
    case Compressor::kZlib: {
      uLongf size = compressBound(bytes.size());
      out.resize(start + size);
      const int outcome = compress2(reinterpret_cast<Bytef*>(out.data() + start), &size,
                                    reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), kZlibLevel);
      BRAID_ASSERT(outcome == Z_OK);
      out.resize(start + size);
      return;
    }
    case Compressor::kZstd: {
      out.resize(start + ZSTD_compressBound(bytes.size()));
      const size_t size = ZSTD_compress(out.data() + start, out.size() - start, bytes.data(), bytes.size(), kZstdLevel);
      BRAID_ASSERT(ZSTD_isError(size) == 0);
      out.resize(start + size);
      return;
    }
  }
}

}  // namespace braid::wire
