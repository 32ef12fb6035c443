"""Image conversion between WebP, PNG, JPG, GIF and TIFF; runs in worker processes."""
