libattnscope_a_SOURCES += \
	%D%/arch.c \
	%D%/beats.c %D%/beats.h \
	%D%/course_json.c \
	%D%/device.c \
	%D%/device.h \
	%D%/device_rows.c \
	%D%/device_rows.h \
	%D%/differ.c \
	%D%/differ.h \
	%D%/explain.c \
	%D%/mbarriers.c %D%/mbarriers.h \
	%D%/nearby.c %D%/nearby.h \
	%D%/occupancy.c \
	%D%/occupancy.h \
	%D%/place.c %D%/place.h \
	%D%/plan.c \
	%D%/plan.h \
	%D%/predict.c \
	%D%/predict.h \
	%D%/predict_block.h \
	%D%/predict_course.c %D%/predict_course.h \
	%D%/predict_fit.c \
	%D%/predict_fit.h \
	%D%/predict_gpu.c \
	%D%/predict_read.c \
	%D%/ring.c %D%/ring.h \
	%D%/row.c \
	%D%/row.h \
	%D%/schedule.c \
	%D%/schedule.h \
	%D%/schedule_json.c \
	%D%/schedule_sim.c \
	%D%/why.c
