// Lines put together into invoices: interleaved, contradicting, and more of them at once than are kept open.
#include "services/shop/import_invoices.h"

#include <gmock/gmock.h>

#include "base/strings.h"
#include "base/testing/testing.h"

namespace braid::shop {
namespace {

using testing::HasSubstr;

InvoiceLine LineFor(std::string invoice, uint64_t line = 1, int64_t quantity = 1) {
  return {.line = line,
          .invoice = std::move(invoice),
          .stock_code = StrCat("S", line),
          .quantity = quantity,
          .price = *Money::Parse("2.50"),
          .customer = "17850",
          .country = "France"};
}

TEST(OpenInvoicesTest, LinesOfOthersInBetweenDoNotEndAnInvoice) {
  OpenInvoices open;
  ASSERT_OK(open.Add(LineFor("1", 2)));
  ASSERT_OK(open.Add(LineFor("2", 3)));
  ASSERT_OK(open.Add(LineFor("1", 4)));
  EXPECT_FALSE(open.TakeClosed());
  const std::optional<Invoice> second = open.TakeAny();  // the one that waits longest
  const std::optional<Invoice> first = open.TakeAny();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->number, "2");
  EXPECT_EQ(first->number, "1");
  EXPECT_EQ(first->first_line, 2u);
  ASSERT_EQ(first->items.size(), 2u);
  EXPECT_EQ(first->items[1].product_id, "S4");
  EXPECT_FALSE(open.TakeAny());
}

TEST(OpenInvoicesTest, AnInvoiceIsClosedWhenSoManyOthersHaveHadALine) {
  OpenInvoices open;
  for (size_t i = 0; i < OpenInvoices::kOpenMax; ++i) ASSERT_OK(open.Add(LineFor(StrCat(i))));
  ASSERT_OK(open.Add(LineFor("0")));  // the oldest is the newest again
  EXPECT_FALSE(open.TakeClosed());
  ASSERT_OK(open.Add(LineFor("one more")));
  const std::optional<Invoice> closed = open.TakeClosed();
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->number, "1");
  EXPECT_FALSE(open.TakeClosed());
}

TEST(OpenInvoicesTest, ALineOfAnotherCustomerOrCountryIsNotTaken) {
  OpenInvoices open;
  ASSERT_OK(open.Add(LineFor("1")));
  InvoiceLine other = LineFor("1", 7);
  other.customer = "";
  EXPECT_THAT(std::string(open.Add(other).message()), HasSubstr("since line 1"));
  other.customer = "17850";
  other.country = "Spain";
  EXPECT_FALSE(open.Add(other).ok());
  EXPECT_EQ(open.TakeAny()->items.size(), 1u);
}

TEST(OpenInvoicesTest, CancellationsHavePositiveQuantities) {
  OpenInvoices open;
  ASSERT_OK(open.Add(LineFor("C1", 1, -3)));
  const std::optional<Invoice> invoice = open.TakeAny();
  EXPECT_TRUE(invoice->canceled);
  EXPECT_EQ(invoice->items[0].qty, 3);
}

TEST(InvoiceLineTest, WhatCannotBeInAnOrder) {
  EXPECT_EQ(FaultOf(LineFor("1")), "");
  EXPECT_EQ(FaultOf(LineFor("C1", 1, -1)), "");
  EXPECT_THAT(FaultOf(LineFor("")), HasSubstr("InvoiceNo"));
  EXPECT_THAT(FaultOf(LineFor("a b")), HasSubstr("InvoiceNo"));
  EXPECT_THAT(FaultOf(LineFor(std::string(65, '1'))), HasSubstr("InvoiceNo"));
  EXPECT_THAT(FaultOf(LineFor("1", 1, 0)), HasSubstr("is 0"));
  EXPECT_THAT(FaultOf(LineFor("1", 1, -1)), HasSubstr("not a cancellation"));
  EXPECT_THAT(FaultOf(LineFor("C1", 1, 1)), HasSubstr("should be negative"));
  InvoiceLine line = LineFor("1");
  line.stock_code = "";
  EXPECT_THAT(FaultOf(line), HasSubstr("StockCode"));
  line = LineFor("1");
  line.country = std::string(200, 'x');
  EXPECT_THAT(FaultOf(line), HasSubstr("Country"));
  line = LineFor("1");
  line.customer = std::string(200, 'x');
  EXPECT_THAT(FaultOf(line), HasSubstr("CustomerID"));
}

}  // namespace
}  // namespace braid::shop
