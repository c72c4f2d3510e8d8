# The full-screen interface; the only folder that includes curses.
libattnscope_ui_a_SOURCES += \
  %D%/app.h %D%/app.c \
  %D%/clip.h %D%/clip.c \
  %D%/codeview.h %D%/codeview.c \
  %D%/compare.h %D%/compare.c %D%/compare_rows.c %D%/compare_run.c \
  %D%/compare_view.h %D%/compare_view.c %D%/compare_pair.c \
  %D%/entry.h %D%/entry.c \
  %D%/explore.h %D%/explore.c %D%/explore_find.c %D%/explore_plan.c %D%/explore_run.c %D%/explore_state.c \
  %D%/explore_view.h %D%/explore_view.c %D%/explore_planned.h %D%/explore_planned.c \
  %D%/flow.h %D%/flow.c \
  %D%/frame.c \
  %D%/keymap.h %D%/keymap.c \
  %D%/keyfile.h %D%/keyfile.c \
  %D%/keys.h \
  %D%/knobs.h %D%/knobs.c \
  %D%/layout.h %D%/layout.c \
  %D%/lesson.h %D%/lesson.c %D%/lesson_state.h %D%/lesson_draw.c \
  %D%/lesson_list.c %D%/lesson_figure.c %D%/lesson_keys.c \
  %D%/marks.h %D%/marks.c \
  %D%/menus.h %D%/menu_export.c %D%/menu_options.c %D%/popup_help.c \
  %D%/outlet.h %D%/outlet.c \
  %D%/pane.h %D%/pane.c \
  %D%/popup.h %D%/popup.c \
  %D%/prompt.h %D%/prompt.c \
  %D%/roofline.h %D%/roofline.c %D%/roofline_make.c %D%/roofline_view.c \
  %D%/screen_util.h %D%/screen_util.c \
  %D%/settings.h %D%/settings.c \
  %D%/signals.h %D%/signals.c \
  %D%/state.h %D%/state.c \
  %D%/strip.h %D%/strip.c \
  %D%/sweep.h %D%/sweep.c %D%/sweep_run.c %D%/sweep_setup.c %D%/sweep_view.c \
  %D%/source.h %D%/source_state.h %D%/source.c %D%/source_draw.c \
  %D%/textview.h %D%/textview.c \
  %D%/theme.h %D%/theme.c \
  %D%/timeline.h %D%/timeline_state.h %D%/timeline.c %D%/timeline_draw.c \
  %D%/tty.h %D%/tty.c %D%/tty_paint.c %D%/tty_state.h \
  %D%/tui.h %D%/tui.c %D%/tui_keys.c
