"""Addresses that the service never calls: those that only it could reach."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
"""IPv4 addresses behind a translator (RFC 6052, RFC 8215)."""

LOCAL_NAMES = ("localhost", ".localhost", ".local", ".internal", ".home.arpa")


def is_public(text: str) -> bool:
    """Whether the address is one that anybody on the Internet can reach."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return _is_global(address)


def _is_global(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return _is_global(address.ipv4_mapped)
        is_tunnel = address.sixtofour is not None or address.teredo is not None
        if is_tunnel or any(address in network for network in TRANSLATED):
            return False
    is_special = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not is_special


def is_forbidden_host(host: str) -> bool:
    """Whether a host is a name or an address that is certainly not public."""
    name = host.rstrip(".").lower()
    if name == LOCAL_NAMES[0] or name.endswith(LOCAL_NAMES[1:]):
        return True
    try:
        ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return not is_public(name)
