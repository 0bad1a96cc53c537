"""Serves the pack to the engine, for ever."""  # noqa: INP001 run as a folder by the engine

from policies.rule import Pack
from policies.sdk import serve

serve(Pack.HARDENING)
