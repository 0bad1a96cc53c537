"""The empty program: the floor of every preview."""  # noqa: INP001 run as a folder by the engine
