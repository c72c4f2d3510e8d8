libattnscope_a_SOURCES += \
	%D%/arch.c \
	%D%/device.c \
	%D%/device.h \
	%D%/device_rows.c \
	%D%/device_rows.h \
	%D%/differ.c \
	%D%/differ.h \
	%D%/explain.c \
	%D%/occupancy.c \
	%D%/occupancy.h \
	%D%/place.c %D%/place.h \
	%D%/plan.c \
	%D%/plan.h \
	%D%/row.c \
	%D%/row.h \
	%D%/schedule.c \
	%D%/schedule.h \
	%D%/schedule_json.c \
	%D%/schedule_sim.c \
	%D%/why.c
