"""The command `mt-train`, for any job."""
