# Kernel sources: embedded in the programs, and, where nvcc is present, compiled beforehand.
include %D%/cuda/local.mk
include %D%/cpu/local.mk
include %D%/peers/local.mk
include %D%/peak/local.mk
include %D%/ring/local.mk
include %D%/pages/local.mk

# What `bench` measures.
blob_files += %D%/suites/limit.suite

EXTRA_DIST += %D%/README.md %D%/reports/seq_shared.cu %D%/drafts/bigd_joined.cu %D%/h200.md %D%/hopper.md tools/build-fatbins.sh

# Tells the build what to compile, with the planner's own definitions.
noinst_PROGRAMS += kerneldefs
kerneldefs_SOURCES = tools/kerneldefs.c
kerneldefs_LDADD = $(core_libs)

# Finds which registers of a PTX text hold the variables that a source marks, for update-ptx.
noinst_PROGRAMS += ptxnames
ptxnames_SOURCES = tools/ptxnames.c
ptxnames_LDADD = $(core_libs)

cuda_out = %D%/cuda/built
cuda_jobs = $$(nproc 2>/dev/null || echo 1)
# Not part of `make`: a kernel is compiled when it is first needed (NVRTC or nvcc, then cached), so
# that the program is there after seconds. `make prebuilt` compiles all, for a machine without a
# compiler or a class that starts at once; `make install` takes along what is there.
# PREBUILT_PICK takes its lines from kerneldefs.txt.
PREBUILT_PICK = cat
.PHONY: prebuilt
if HAVE_NVCC
prebuilt: $(cuda_out)/stamp
else
prebuilt:
	@echo "make prebuilt needs nvcc, and configure found none (--with-cuda=DIR)" >&2; exit 1
endif
$(cuda_out)/stamp: kerneldefs$(EXEEXT) $(cuda_sources) tools/build-fatbins.sh
	$(AM_V_GEN)./kerneldefs$(EXEEXT) > kerneldefs.txt && \
	$(PREBUILT_PICK) kerneldefs.txt | $(SHELL) $(srcdir)/tools/build-fatbins.sh '$(NVCC) $(NVCCFLAGS)' '$(CUDA_ARCHS)' \
	  '$(abs_srcdir)' '$(abs_builddir)/$(cuda_out)' "$(cuda_jobs)" && \
	touch $@
CLEANFILES += kerneldefs.txt
clean-local:
	rm -rf fuzz-build coverage-build $(cuda_out) cppcheck-cache
install-data-local:
	if test -d $(cuda_out); then \
	  $(MKDIR_P) '$(DESTDIR)$(pkgdatadir)/cuda' && \
	  $(INSTALL_DATA) $(cuda_out)/*.fatbin $(cuda_out)/*.def $(cuda_out)/*.ptx '$(DESTDIR)$(pkgdatadir)/cuda'; fi
uninstall-local:
	rm -rf fuzz-build '$(DESTDIR)$(pkgdatadir)/cuda'

# The tracked table of registers, spills and static SMEM: exact occupancy without NVIDIA software.
update-ptxas: kerneldefs$(EXEEXT)
	NVCC='$(NVCC)' $(srcdir)/tools/update-ptxas
# The tracked PTX of every configuration in that table, for the simulator.
update-ptx: ptxnames$(EXEEXT)
	NVCC='$(NVCC)' PTXNAMES=./ptxnames$(EXEEXT) nice $(srcdir)/tools/update-ptx
