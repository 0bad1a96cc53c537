from components.contract.namespaces import egress_block


def test_a_range_that_holds_the_machines_credentials_leaves_them_out() -> None:
    for cidr in ("0.0.0.0/0", "169.0.0.0/8"):
        assert egress_block(cidr) == {"cidr": cidr, "except": ["169.254.0.0/16"]}
    for cidr in ("10.0.0.0/8", "::/0", "fd00::/8"):
        assert egress_block(cidr) == {"cidr": cidr}
