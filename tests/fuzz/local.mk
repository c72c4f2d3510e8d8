# One program per fuzz target. A target NAME (fuzz_NAME.c, see fuzz.h) adds three lines:
#   fuzz_tests += %D%/fuzz_NAME.t
#   %C%_fuzz_NAME_t_SOURCES = %D%/fuzz_NAME.c %D%/fuzz.h
#   %C%_fuzz_NAME_t_LDADD = libfuzzmain.a $(core_libs)
# `FUZZ_TARGETS=NAME FUZZ_KEEP=yes make fuzz` then writes corpus/NAME.txt.
# tests/local.mk makes libfuzzmain.a from fuzz_main.c and turns the list into check_PROGRAMS and
# TESTS.

fuzz_tests += %D%/fuzz_line.t
%C%_fuzz_line_t_SOURCES = %D%/fuzz_line.c %D%/fuzz.h
%C%_fuzz_line_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_expr.t
%C%_fuzz_expr_t_SOURCES = %D%/fuzz_expr.c %D%/fuzz.h
%C%_fuzz_expr_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_shape.t
%C%_fuzz_shape_t_SOURCES = %D%/fuzz_shape.c %D%/fuzz.h
%C%_fuzz_shape_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_npy.t
%C%_fuzz_npy_t_SOURCES = %D%/fuzz_npy.c %D%/fuzz.h
%C%_fuzz_npy_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_wire.t
%C%_fuzz_wire_t_SOURCES = %D%/fuzz_wire.c %D%/fuzz.h
%C%_fuzz_wire_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_descriptor.t
%C%_fuzz_descriptor_t_SOURCES = %D%/fuzz_descriptor.c %D%/fuzz.h
%C%_fuzz_descriptor_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_ptx.t
%C%_fuzz_ptx_t_SOURCES = %D%/fuzz_ptx.c %D%/fuzz.h
%C%_fuzz_ptx_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_sim.t
%C%_fuzz_sim_t_SOURCES = %D%/fuzz_sim.c %D%/fuzz.h
%C%_fuzz_sim_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_lesson.t
%C%_fuzz_lesson_t_SOURCES = %D%/fuzz_lesson.c %D%/fuzz.h
%C%_fuzz_lesson_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_recording.t
%C%_fuzz_recording_t_SOURCES = %D%/fuzz_recording.c %D%/fuzz.h
%C%_fuzz_recording_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_log.t
%C%_fuzz_log_t_SOURCES = %D%/fuzz_log.c %D%/fuzz.h
%C%_fuzz_log_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_pack.t
%C%_fuzz_pack_t_SOURCES = %D%/fuzz_pack.c %D%/fuzz.h
%C%_fuzz_pack_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_command.t
%C%_fuzz_command_t_SOURCES = %D%/fuzz_command.c %D%/fuzz.h
%C%_fuzz_command_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_debug.t
%C%_fuzz_debug_t_SOURCES = %D%/fuzz_debug.c %D%/fuzz.h
%C%_fuzz_debug_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_ring.t
%C%_fuzz_ring_t_SOURCES = %D%/fuzz_ring.c %D%/fuzz.h
%C%_fuzz_ring_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_pages.t
%C%_fuzz_pages_t_SOURCES = %D%/fuzz_pages.c %D%/fuzz.h
%C%_fuzz_pages_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_kept.t
%C%_fuzz_kept_t_SOURCES = %D%/fuzz_kept.c %D%/fuzz.h
%C%_fuzz_kept_t_LDADD = libfuzzmain.a $(core_libs)
fuzz_tests += %D%/fuzz_chart.t
%C%_fuzz_chart_t_SOURCES = %D%/fuzz_chart.c %D%/fuzz.h
%C%_fuzz_chart_t_LDADD = libfuzzmain.a $(core_libs)

# What needs more inputs than `make check` has time for.
long_tests += %D%/debug_long.sh %D%/fuzz_long.sh
EXTRA_DIST += %D%/corpus %D%/debug_long.sh %D%/fuzz_long.sh
