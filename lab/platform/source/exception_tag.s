# The tag by which C++ exceptions are thrown, which the sources of libc++abi leave to the toolchain.
.globl __cpp_exception
.tagtype __cpp_exception i32
__cpp_exception:
