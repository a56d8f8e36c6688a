//! Names of places on the web: the host of a lane, the origin of a robots.txt.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};
use url::Url;

/// A host after IDNA, lower case, without a trailing dot. A lane belongs to a host: scheme and
/// port are ignored there (DECISIONS 9).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Host(String);

impl Host {
    /// The host of `url`; `None` for URLs without one.
    #[must_use]
    pub fn of(url: &Url) -> Option<Self> {
        let name = url.host_str()?.trim_end_matches('.').to_ascii_lowercase();
        (!name.is_empty()).then_some(Self(name))
    }

    /// Reads a bare host name as a person would type it, applying IDNA.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(&format!("http://{text}/")).ok()?;
        let bare = url.port().is_none() && url.path() == "/" && url.username().is_empty();
        bare.then(|| Self::of(&url)).flatten()
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The registrable domain (public suffix plus one label), or the host itself where there is
    /// none (an address, a bare suffix).
    #[must_use]
    pub fn registrable_domain(&self) -> &str {
        if self.address().is_some() {
            return &self.0;
        }
        psl::domain_str(&self.0).unwrap_or(&self.0)
    }

    /// The address, where the host is an IP literal.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        self.0
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse()
            .ok()
    }

    /// Whether `other` is the same site under the `www`/apex convention.
    #[must_use]
    pub fn is_twin_of(&self, other: &Self) -> bool {
        let strip = |name: &str| name.strip_prefix("www.").unwrap_or(name).to_owned();
        strip(&self.0) == strip(&other.0)
    }
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Scheme, host and port: what one robots.txt answers for (RFC 9309 section 2.3).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Origin(String);

impl Origin {
    /// The origin of an http(s) URL.
    #[must_use]
    pub fn of(url: &Url) -> Self {
        Self(url.origin().ascii_serialization())
    }

    /// `scheme://host[:port]`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The URL of the origin's robots.txt.
    #[must_use]
    pub fn robots_url(&self) -> Option<Url> {
        Url::parse(&format!("{}/robots.txt", self.0)).ok()
    }
}

/// A block of addresses, `10.0.0.0/8`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    base: IpAddr,
    bits: u8,
}

impl Block {
    /// Reads `address/bits`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (base, bits) = text.split_once('/')?;
        let base: IpAddr = base.parse().ok()?;
        let bits: u8 = bits.parse().ok()?;
        let most = if base.is_ipv4() { 32 } else { 128 };
        (bits <= most).then_some(Self { base, bits })
    }

    /// Whether `address` lies in the block. An IPv4-mapped IPv6 address is judged as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.base, address.to_canonical()) {
            (IpAddr::V4(base), IpAddr::V4(address)) => {
                let shift = 32 - u32::from(self.bits);
                let cut = |a: Ipv4Addr| u32::from(a).checked_shr(shift).unwrap_or(0);
                cut(base) == cut(address)
            }
            (IpAddr::V6(base), IpAddr::V6(address)) => {
                let shift = 128 - u32::from(self.bits);
                let cut = |a: Ipv6Addr| u128::from(a).checked_shr(shift).unwrap_or(0);
                cut(base) == cut(address)
            }
            _ => false,
        }
    }
}

/// Whether an address is one that the public web cannot have: private, loopback, link-local,
/// shared (CGNAT), metadata, documentation, multicast, reserved, and the IPv6 forms that carry
/// such an IPv4 address (mapped, 6to4, NAT64). Source: IANA special-purpose registries.
#[must_use]
pub fn is_special(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => special_v4(v4),
        IpAddr::V6(v6) => special_v6(v6),
    }
}

fn special_v4(a: Ipv4Addr) -> bool {
    let [x, y, z, _] = a.octets();
    a.is_private()
        || a.is_loopback()
        || a.is_link_local()
        || a.is_documentation()
        || a.is_multicast()
        || x == 0
        || x >= 240
        || (x == 100 && (64..128).contains(&y))
        || (x == 192 && y == 0 && z == 0)
        || (x == 192 && y == 88 && z == 99)
        || (x == 198 && (y == 18 || y == 19))
}

fn special_v6(a: Ipv6Addr) -> bool {
    let [s0, s1, s2, _, _, _, s6, s7] = a.segments();
    let embedded =
        |hi: u16, lo: u16| special_v4(Ipv4Addr::from((u32::from(hi) << 16) | u32::from(lo)));
    // Only global unicast (2000::/3) can be public; NAT64 is looked into below.
    if s0 == 0x64 && s1 == 0xff9b {
        return s2 != 0 || embedded(s6, s7);
    }
    if s0 & 0xe000 != 0x2000 {
        return true;
    }
    match (s0, s1) {
        (0x2001, 0x0db8) => true,          // documentation
        (0x2001, s) if s < 0x0200 => true, // IETF protocol assignments, Teredo
        (0x2002, hi) => embedded(hi, s2),  // 6to4
        (0x3fff, s) if s < 0x1000 => true, // documentation (RFC 9637)
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_the_public_web_cannot_have() {
        for (address, special) in [
            ("8.8.8.8", false),
            ("10.1.2.3", true),
            ("100.64.0.1", true),
            ("100.128.0.1", false),
            ("169.254.169.254", true),
            ("127.0.0.1", true),
            ("0.0.0.0", true),
            ("192.0.0.8", true),
            ("198.18.0.1", true),
            ("203.0.113.5", true),
            ("255.255.255.255", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("::ffff:8.8.8.8", false),
            ("fe80::1", true),
            ("fd00::1", true),
            ("2001:db8::1", true),
            ("2002:7f00:1::", true),
            ("64:ff9b::a00:1", true),
            ("64:ff9b::808:808", false),
            ("2606:4700:4700::1111", false),
            ("ff02::1", true),
        ] {
            assert_eq!(is_special(address.parse().unwrap()), special, "{address}");
        }
    }

    #[test]
    fn blocks_contain_what_they_cover() {
        let block = Block::parse("127.0.0.0/8").unwrap();
        assert!(block.contains("127.9.9.9".parse().unwrap()));
        assert!(block.contains("::ffff:127.0.0.1".parse().unwrap()));
        assert!(!block.contains("128.0.0.1".parse().unwrap()));
        assert!(
            Block::parse("0.0.0.0/0")
                .unwrap()
                .contains("9.9.9.9".parse().unwrap())
        );
        assert!(Block::parse("10.0.0.0/33").is_none());
    }

    #[test]
    fn hosts_are_compared_after_idna() {
        assert_eq!(
            Host::parse("例え.テスト").unwrap().as_str(),
            "xn--r8jz45g.xn--zckzah"
        );
        assert_eq!(
            Host::parse("WWW.Example.JP.").unwrap().as_str(),
            "www.example.jp"
        );
        assert_eq!(
            Host::parse("www.city.example.co.jp")
                .unwrap()
                .registrable_domain(),
            "example.co.jp"
        );
        assert!(Host::parse("a/b").is_none());
        let (www, apex) = (
            Host::parse("www.a.jp").unwrap(),
            Host::parse("a.jp").unwrap(),
        );
        assert!(www.is_twin_of(&apex));
    }
}
