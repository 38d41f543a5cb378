"""The teaching page of ``otafl demo``: one round over the air, and a short training."""
