dnl ATTN_FLAGS: warnings and hardening, each flag only if the compiler takes it.
dnl Flags go to AM_CFLAGS and AM_LDFLAGS; CFLAGS stays the user's.
dnl SPDX-License-Identifier: GPL-3.0-or-later
AC_DEFUN([ATTN_TRY_CFLAG], [
AC_MSG_CHECKING([whether $CC takes $1])
attn_save=$CFLAGS
CFLAGS="$CFLAGS -Werror $1"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
  [AC_MSG_RESULT([yes]); AS_VAR_APPEND([AM_CFLAGS], [" $1"])], [AC_MSG_RESULT([no])])
CFLAGS=$attn_save
])
AC_DEFUN([ATTN_TRY_LDFLAG], [
AC_MSG_CHECKING([whether the linker takes $1])
attn_save=$LDFLAGS
LDFLAGS="$LDFLAGS $1"
AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
  [AC_MSG_RESULT([yes]); AS_VAR_APPEND([AM_LDFLAGS], [" $1"])], [AC_MSG_RESULT([no])])
LDFLAGS=$attn_save
])
AC_DEFUN([ATTN_FLAGS], [
AM_CFLAGS="-std=gnu11"
AM_LDFLAGS=
m4_foreach_w([flag], [-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2
  -Wno-format-nonliteral -Wvla -fno-math-errno -fno-trapping-math], [ATTN_TRY_CFLAG(flag)])
AS_IF([test "x$enable_werror" = xyes], [AS_VAR_APPEND([AM_CFLAGS], [" -Werror"])])
hardening=no
AS_IF([test "x$enable_hardening" != xno], [
  hardening=yes
  m4_foreach_w([flag], [-fPIE -fstack-protector-strong -fstack-clash-protection -fcf-protection],
    [ATTN_TRY_CFLAG(flag)])
  m4_foreach_w([flag], [-pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack], [ATTN_TRY_LDFLAG(m4_defn([flag]))])
  dnl A position-independent program has thousands of pointers to put right at every start; packed, their list takes 5 KiB in place
  dnl of 190. A libc before 2.36 refuses such a program, so the test is that it runs.
  AC_MSG_CHECKING([whether packed relocations run])
  saved_LDFLAGS=$LDFLAGS saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -fPIE" LDFLAGS="$LDFLAGS $AM_LDFLAGS -Wl,-z,pack-relative-relocs"
  AC_RUN_IFELSE([AC_LANG_PROGRAM([[static const char *const words[] = {"a", "b"}; const char *const *volatile at = words;]], [[return at[0][0] != 'a';]])],
    [AC_MSG_RESULT([yes]); packed_relocations=yes], [AC_MSG_RESULT([no])], [AC_MSG_RESULT([not known])])
  LDFLAGS=$saved_LDFLAGS CFLAGS=$saved_CFLAGS
  AS_IF([test "x$packed_relocations" = xyes], [AM_LDFLAGS="$AM_LDFLAGS -Wl,-z,pack-relative-relocs"])
  AS_CASE([" $CFLAGS "], [*" -O0 "*|*fsanitize*], [],
    [AS_VAR_APPEND([AM_CFLAGS], [" -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"])])])
AC_SUBST([AM_CFLAGS])
AC_SUBST([AM_LDFLAGS])
])
