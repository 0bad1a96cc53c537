from components.contract.egress import ip_block


def test_a_range_that_holds_the_machines_credentials_leaves_them_out() -> None:
    assert ip_block("0.0.0.0/0") == {"cidr": "0.0.0.0/0", "except": ["169.254.0.0/16", "168.63.129.16/32"]}
    assert ip_block("169.0.0.0/8") == {"cidr": "169.0.0.0/8", "except": ["169.254.0.0/16"]}
    assert ip_block("::/0") == {"cidr": "::/0", "except": ["fd00:ec2::254/128", "fd00:ec2::23/128"]}
    for cidr in ("10.0.0.0/8", "fd01::/16"):
        assert ip_block(cidr) == {"cidr": cidr}


def test_a_range_leaves_out_what_its_maker_leaves_out_too() -> None:
    block = ip_block("0.0.0.0/0", ("10.0.0.0/8", "169.254.0.0/16"))
    assert block["except"] == ["169.254.0.0/16", "168.63.129.16/32", "10.0.0.0/8"]
    assert ip_block("192.0.2.0/24", ("10.0.0.0/8",)) == {"cidr": "192.0.2.0/24"}
