// Stands in for liburing: there is no io_uring, and source/left_out.cc says so where one is opened.
#pragma once
struct io_uring {};
struct io_uring_sqe {};
struct io_uring_cqe {};
