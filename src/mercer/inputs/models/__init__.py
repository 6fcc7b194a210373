"""Models that turn texts and images into vectors. Nothing is downloaded at run time.

The models that packages carry are computed with NumPy, so that neither PyTorch nor ONNX Runtime is needed.
"""
