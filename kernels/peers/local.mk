# Other libraries' attention: descriptors without a source of ours, and the Python side of torch:* and py:*.
peer_files = %D%/cudnn.peer %D%/torch_flash.peer %D%/torch_cudnn.peer %D%/torch_efficient.peer \
	%D%/torch_math.peer %D%/helper.py
blob_files += $(peer_files)
