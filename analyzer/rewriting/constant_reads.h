// Constant reads: takes what an operation reads of columns that no procedure writes apart from the rest of
// it, as an operation of its own.
//
// Why         TPC-C's New-Order changes a row of the stock, and the same statement reads a text of it that
//             never changes, for its order line. So the order line waits for all that was done to the stock
//             before. The text, read by itself, waits for nothing.
//             It costs the row's look-up once more. That pays where one piece is to run without many others
//             (recovery/demand/), and not where all are to run anyway.
// Which       of a SELECT or an UPDATE that finds one row by a whole unique key: the outputs over columns
//             that no procedure writes, if the same is true of the columns by which the row is found, and no
//             procedure inserts or deletes rows of the table. The read stands before the operation.
// Invariants  the procedures' meaning stays.
// Source      ours.
#pragma once

#include <memory>

#include "procedures/binder/program.h"

namespace mneme {

// Whether it finds its row by a whole unique key, and is a SELECT or an UPDATE that says no more of it.
bool finds_one_row(const ir::Operation& operation);

// Statements and operations are numbered anew where one has been taken apart.
std::unique_ptr<Program> with_constant_reads_apart(const Program& program);

}  // namespace mneme
