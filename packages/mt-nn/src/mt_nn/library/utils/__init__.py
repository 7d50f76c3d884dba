"""What training needs beside layers."""
