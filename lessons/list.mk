# Read by the build and, being that simple, by scripts: one lesson a line.
blob_files += \
	%D%/00-first-visit.md \
	%D%/01-blocks.md \
	%D%/02-coalescing.md \
	%D%/03-reductions.md \
	%D%/04-measure.md \
	%D%/05-correct.md \
	%D%/06-naive-bytes.md \
	%D%/07-online-softmax.md \
	%D%/08-fa1-2022.md \
	%D%/09-query-tiles.md \
	%D%/10-threads.md \
	%D%/11-grid-starves.md \
	%D%/12-loop-order.md \
	%D%/13-nonmatmul.md \
	%D%/14-warps.md \
	%D%/15-causal.md \
	%D%/16-splitkv.md \
	%D%/17-atomics.md \
	%D%/18-determinism.md \
	%D%/19-smem-budget.md \
	%D%/20-smem-wall.md \
	%D%/21-banks.md \
	%D%/22-wmma.md \
	%D%/23-mma.md \
	%D%/24-cp-async.md \
	%D%/25-warp-spec.md \
	%D%/26-occupancy.md \
	%D%/27-large-heads.md \
	%D%/28-decode-gqa.md \
	%D%/29-roofline.md \
	%D%/30-audit.md \
	%D%/31-own.md \
	%D%/32-hazards.md \
	%D%/33-hopper.md \
	%D%/34-ring.md
