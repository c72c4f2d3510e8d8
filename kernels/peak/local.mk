# What `doctor --peak` runs on a GPU: no attention, each as fast as one unit of the chip lets it be.
peak_sources = %D%/peak.cu
blob_files += $(peak_sources)
