import re

from pulumi.runtime import rpc
from pulumi_policy import proxy
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY

from components.contract.engine_marks import MARK, OUTPUT_KIND, SECRET_KIND, SENTINELS


def test_the_marks_are_the_engines() -> None:
    assert (MARK, SECRET_KIND) == (SPECIAL_SIG_KEY, SPECIAL_SECRET_SIG)
    assert rpc._special_output_value_sig == OUTPUT_KIND
    assert {text for name, text in vars(proxy).items() if re.fullmatch("UNKNOWN_[A-Z]+_VALUE", name)} == SENTINELS
    assert rpc.UNKNOWN in SENTINELS
