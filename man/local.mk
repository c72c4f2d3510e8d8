# attnscope(1) is prose plus the command table, which the program itself prints as mdoc.
man_MANS = %D%/attnscope.1
%D%/attnscope.1: %D%/attnscope.1.in attnscope$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) %D% && ./attnscope$(EXEEXT) --help-mdoc > $@.part && \
	sed -e '/^@COMMANDS@$$/{' -e 'r $@.part' -e 'd' -e '}' $(srcdir)/%D%/attnscope.1.in > $@.tmp && \
	rm -f $@.part && mv $@.tmp $@
CLEANFILES += %D%/attnscope.1
EXTRA_DIST += %D%/attnscope.1.in %D%/SCREENS.md %D%/REMOTE.md

man_MANS += %D%/attnscope-lesson.5
EXTRA_DIST += %D%/attnscope-lesson.5

man_MANS += %D%/attnscope-kernel.5
EXTRA_DIST += %D%/attnscope-kernel.5

# Completions, printed by the program, where each shell looks for them.
bash_completiondir = $(datadir)/bash-completion/completions
zsh_completiondir = $(datadir)/zsh/site-functions
fish_completiondir = $(datadir)/fish/vendor_completions.d
nodist_bash_completion_DATA = %D%/bash/attnscope
nodist_zsh_completion_DATA = %D%/zsh/_attnscope
nodist_fish_completion_DATA = %D%/fish/attnscope.fish
completion_files = %D%/bash/attnscope %D%/zsh/_attnscope %D%/fish/attnscope.fish
$(completion_files): attnscope$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && shell=$(@D) && \
	./attnscope$(EXEEXT) completions $${shell##*/} > $@.tmp && mv $@.tmp $@
CLEANFILES += $(completion_files)
