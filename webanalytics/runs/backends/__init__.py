"""Where the work is done: the protocol of backends, this machine, a hosted API, and a Dask cluster."""
