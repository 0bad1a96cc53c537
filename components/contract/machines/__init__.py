"""Dated facts of the machine types of the clouds, as data: ``components.contract.instances`` reads them."""
