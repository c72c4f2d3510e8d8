# Shipped recordings, one a line: blob_files += %D%/NAME.rec
blob_files += %D%/h200-short.rec
blob_files += %D%/h200-ladder.rec
blob_files += %D%/h200.rec
