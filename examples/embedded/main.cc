// A whole Braid inside a program: a directory, and a client of it that any libmongoc code can use.
#include <braid/embedded.h>

#include <cstdio>

int main() {
  auto store = braid::Embedded::Open({.directory = "./embedded-data"});
  if (!store.ok()) return std::fprintf(stderr, "%s\n", store.error().ToString().c_str()), 1;

  const braid::Client client = (*store)->Acquire();
  mongoc_collection_t* visits = mongoc_client_get_collection(client.get(), "example", "visits");
  bson_t* document = BCON_NEW("page", "/", "at", BCON_DATE_TIME(1700000000000));
  bson_t everything = BSON_INITIALIZER;
  bson_error_t error;
  const bool stored = mongoc_collection_insert_one(visits, document, nullptr, nullptr, &error);
  if (!stored) std::fprintf(stderr, "%s\n", error.message);
  std::printf("%lld visits\n", static_cast<long long>(mongoc_collection_count_documents(visits, &everything, nullptr,
                                                                                        nullptr, nullptr, &error)));
  bson_destroy(document);
  mongoc_collection_destroy(visits);
  return stored ? 0 : 1;
}
