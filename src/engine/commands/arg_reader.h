// ArgReader: takes a command's arguments apart, once. Three answers for every field: read, ignored by name, refused by
// name; any other field is an error (40415), as are missing (40414) and ill-typed ones (14).
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"
#include "engine/commands/request.h"

namespace braid::commands {

class ArgReader {
 public:
  /// The arguments of a whole command; fields that any command may carry (lsid, $db, maxTimeMS, …) are known.
  explicit ArgReader(const Request& request);
  /// A document inside a command, e.g. one of update's statements; `where` names it in messages: "update.updates".
  ArgReader(bson::View object, std::string_view where);

  void Required(std::string_view name, std::string_view& out) { Read(name, true, out); }
  void Required(std::string_view name, bson::View& out) { Read(name, true, out); }
  void Required(std::string_view name, bson::Value& out) { Read(name, true, out); }
  void Required(std::string_view name, int64_t& out) { Read(name, true, out); }
  void Required(std::string_view name, bool& out) { Read(name, true, out); }
  /// Documents from an array in the body or from a document sequence of that name.
  void Required(std::string_view name, std::vector<bson::View>& out) { ReadDocuments(name, true, out); }

  void Optional(std::string_view name, std::string_view& out) { Read(name, false, out); }
  void Optional(std::string_view name, bson::View& out) { Read(name, false, out); }
  void Optional(std::string_view name, bson::Value& out) { Read(name, false, out); }
  void Optional(std::string_view name, int64_t& out) { Read(name, false, out); }
  void Optional(std::string_view name, bool& out) { Read(name, false, out); }
  void Optional(std::string_view name, std::vector<bson::View>& out) { ReadDocuments(name, false, out); }
  template <typename T>
  void Optional(std::string_view name, std::optional<T>& out) {
    T value{};
    if (Read(name, false, value)) out = value;
  }
  /// An array of any values, as a View.
  void OptionalArray(std::string_view name, std::optional<bson::View>& out);

  /// A collection's name: a non-empty string, else kInvalidNamespace.
  void Collection(std::string_view name, std::string_view& out);

  void Ignore(std::initializer_list<std::string_view> names);
  /// An error that names the field, if it is there.
  void Refuse(std::initializer_list<std::string_view> names, std::string_view why);
  /// A further condition on what was read, e.g. "limit must be non-negative".
  void Check(bool condition, Code code, std::string message);
  /// A value of the field `name` below `least` is Location(51024).
  void AtLeast(std::string_view name, int64_t value, int64_t least);

  /// The first problem found, an unknown field included.
  Status Finish();

 private:
  struct Field {
    bson::Element element;
    bool used = false;
  };
  bson::Value Take(std::string_view name, bool required);
  bool Read(std::string_view name, bool required, std::string_view& out);
  bool Read(std::string_view name, bool required, bson::View& out);
  bool Read(std::string_view name, bool required, bson::Value& out);
  bool Read(std::string_view name, bool required, int64_t& out);
  bool Read(std::string_view name, bool required, bool& out);
  void ReadDocuments(std::string_view name, bool required, std::vector<bson::View>& out);
  void Fail(Status status);
  void WrongType(std::string_view name, const bson::Value& value, std::string_view expected);

  std::vector<Field> fields_;
  std::vector<const DocumentSequence*> sequences_;
  std::string where_;
  bool top_level_ = false;
  Status problem_;
};

/// True for the fields that any command may carry.
bool IsCommonField(std::string_view name);

}  // namespace braid::commands
