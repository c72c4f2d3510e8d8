dnl ATTN_CUDA: looks for nvcc, which compiles kernels/cuda/*.cu beforehand.
dnl --with-cuda=auto goes on quietly without it; yes or a folder stops when it is missing or
dnl cannot compile a one-line kernel.
dnl SPDX-License-Identifier: GPL-3.0-or-later
AC_DEFUN([ATTN_CUDA], [
AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@], [compile the CUDA kernels with nvcc (auto)])],
  [], [with_cuda=auto])
AC_ARG_WITH([cuda-archs],
  [AS_HELP_STRING([--with-cuda-archs=LIST], [architectures to compile for (80,89,90)])],
  [], [with_cuda_archs=80,89,90])
AC_ARG_VAR([NVCC], [CUDA compiler])
AC_ARG_VAR([NVCCFLAGS], [flags for the CUDA compiler])
have_nvcc=no
cuda_include=
AS_CASE([$with_cuda],
  [no], [],
  [yes|auto], [AC_PATH_PROG([NVCC], [nvcc], [], [$PATH:/usr/local/cuda/bin:/opt/cuda/bin])],
  [NVCC=$with_cuda/bin/nvcc])
AS_IF([test "x$with_cuda" != xno && test -n "$NVCC"], [
  AC_CACHE_CHECK([whether $NVCC works], [attn_cv_nvcc], [
    echo 'extern "C" __global__ void k(int *p) { *p = 1; }' > conftest.cu
    AS_IF([$NVCC -fatbin -gencode arch=compute_80,code=sm_80 conftest.cu -o conftest.fatbin >&AS_MESSAGE_LOG_FD 2>&1],
          [attn_cv_nvcc=yes], [attn_cv_nvcc=no])
    rm -f conftest.cu conftest.fatbin])
  have_nvcc=$attn_cv_nvcc])
AS_IF([test $have_nvcc = no && test "x$with_cuda" != xno && test "x$with_cuda" != xauto],
  [AC_MSG_ERROR([--with-cuda was given, but no working nvcc was found])])
AS_IF([test $have_nvcc = yes], [
  cuda_root=`dirname "\`dirname "$NVCC"\`"`
  AS_IF([test -f "$cuda_root/include/cuda_occupancy.h"], [cuda_include=$cuda_root/include])
  cuda_summary="$NVCC for sm_$with_cuda_archs"],
  [cuda_summary="none: kernels are compiled when they are first run"])
AC_SUBST([CUDA_ARCHS], [$with_cuda_archs])
AC_SUBST([CUDA_INCLUDE], [$cuda_include])
AM_CONDITIONAL([HAVE_NVCC], [test $have_nvcc = yes])
AM_CONDITIONAL([HAVE_CUDA_OCCUPANCY], [test -n "$cuda_include"])
])
