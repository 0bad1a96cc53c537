"""The rules: one file each, named ``<id>_<slug>.py``, with one ``RULE``. Examples are under ``examples/<id>``."""
