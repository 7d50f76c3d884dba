"""Beyond the lesson of stage 3: functions for SIMD, fused operations, and a look at kernels."""
