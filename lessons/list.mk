# Read by the build and, being that simple, by scripts: one lesson a line.
blob_files += \
	%D%/04-measure.md \
	%D%/05-correct.md \
	%D%/06-naive-bytes.md \
	%D%/07-online-softmax.md \
	%D%/10-threads.md \
	%D%/11-grid-starves.md \
	%D%/12-qtile-fa2-splitkv.md \
	%D%/19-smem-wall.md \
	%D%/21-banks.md
