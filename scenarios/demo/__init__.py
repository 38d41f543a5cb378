"""The page of ``otafl demo``: one round over the air behind sliders, and a short training."""
