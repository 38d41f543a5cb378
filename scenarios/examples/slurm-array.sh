#!/bin/bash
# Run a study as a Slurm array job: each task of the array runs one part of the batches.
#
#     sbatch scenarios/examples/slurm-array.sh fading.toml
#
# Afterwards, join the parts:
#
#     otafl merge out/fading-part-*-of-8 --out out/fading
#
# Submitted again, every task resumes its own part.

#SBATCH --job-name=otafl
#SBATCH --array=1-8  # as many as there are parts; --array=3,5 runs two of them again
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=04:00:00
#SBATCH --output=otafl-%A-%a.log
#SBATCH --signal=B:TERM@60

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
source .venv/bin/activate

scenario=$1
parts=8

# exec, so that Slurm's TERM reaches otafl, which then saves its state
exec otafl run "$scenario" --shard "$SLURM_ARRAY_TASK_ID/$parts" --workers "$SLURM_CPUS_PER_TASK"
