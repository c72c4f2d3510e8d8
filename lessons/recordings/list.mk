# Shipped recordings, one a line: blob_files += %D%/NAME.rec
blob_files += %D%/h200-short.rec
blob_files += %D%/h200-ladder.rec
blob_files += %D%/h200-limit.rec
blob_files += %D%/h100-x2.rec
blob_files += %D%/h200.rec
# What doctor --peak measured of the device itself: NAME.ceilings
blob_files += %D%/h200.ceilings
# Factors of the time model that calibrate fitted to the recordings: NAME.factors
blob_files += %D%/h200.factors
# What was fastest by class of shapes, for run auto: NAME.tuned (tests/gpu/auto)
blob_files += %D%/h200.tuned
