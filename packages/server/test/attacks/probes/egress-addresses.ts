import { hostname, networkInterfaces } from "node:os"

/** An address of the server's machine or network, written so as to bypass the check. */
export interface Notation {
  readonly title: string
  /** What stands between `http://` and the port, in the source of a val. */
  readonly host: string
}

const loopback: Readonly<Record<string, readonly string[]>> = {
  "as usual": ["127.0.0.1", "127.255.255.254"],
  "in short": ["127.1", "127.0.1", "127.65535"],
  "in decimal": ["2130706433"],
  "in hexadecimal": ["0x7f000001", "0x7F.1", "0x7f.0x0.0x0.0x1"],
  "in octal": ["017700000001", "0177.0.0.1", "0177.0000000.0.01"],
  "in a mixture": ["0177.0x0.0.1", "0x7f.0.1", "127.0x000001"],
  "with a dot at the end": ["127.0.0.1.", "127.1.", "2130706433.", "0x7f.1."],
  "in other digits": ["①②⑦.⓪.⓪.①", "１２７.０.０.１", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "𝟶x7f.1"],
  "with other dots": ["127。0。0。1", "127．0．0．1", "127｡0｡0｡1"],
  "in percents": ["%31%32%37.0.0.1", "127%2e0%2E0%2e1", "%30%78%37%66%2e1"],
  "with what a parser takes out": ["127.0.\\t0.1", "127.\\n0.0.1", "127.0.0\\u00ad.1"],
  "in IPv6": ["[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::0:1]"],
  "mapped to IPv6": [
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::FFFF:7F00:0001]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
  ],
  "compatible with IPv6": ["[::127.0.0.1]", "[::7f00:1]"],
  "translated by SIIT": ["[::ffff:0:127.0.0.1]", "[::ffff:0:7f00:1]"],
  "translated by NAT64": ["[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]"],
  "translated by 6to4": ["[2002:7f00:1::]", "[2002:7f00:0001::1]"],
  "translated by Teredo": ["[2001:0:7f00:1::]", "[2001::80ff:fffe]"],
  "translated by ISATAP": ["[2001:470::5efe:127.0.0.1]", "[fe80::200:5efe:7f00:1]"],
  "with a zone": ["[::1%25lo]", "[::1%lo]", "[fe80::1%25eth0]"],
}

const names: Readonly<Record<string, readonly string[]>> = {
  "the name of every machine": ["localhost", "LOCALHOST", "LocalHost", "localhost.", "LOCALHOST."],
  "the name in other letters": [
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "ｌｏｃａｌｈｏｓｔ",
    "loc\\u00adalhost",
    "%6cocalhost",
    "lo\\tcalhost",
  ],
  "a name below it that is no val": [
    "db.localhost",
    "a.b.c.localhost",
    "localhost.localhost",
    "127.0.0.1.localhost",
    "ada-neighbour.localhost.",
  ],
  "a name of this machine": [
    hostname(),
    `${hostname()}.`,
    "ip6-localhost",
    "localhost.localdomain",
  ],
}

const surroundings: Readonly<Record<string, readonly string[]>> = {
  "nothing in particular": ["0.0.0.0", "0", "0x0", "00.0", "[::]", "[::ffff:0.0.0.0]"],
  "the metadata of a cloud": [
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[fd00:ec2::254]",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
  ],
  "a private network": [
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "012.0.0.1",
    "[fd00::1]",
    "[fc00::1]",
    "[fec0::1]",
    "[::ffff:10.0.0.1]",
  ],
  "what is near": [
    "169.254.0.1",
    "[fe80::1]",
    "100.64.0.1",
    "224.0.0.251",
    "[ff02::1]",
    "255.255.255.255",
    "240.0.0.1",
    "198.18.0.1",
  ],
  "this very machine": listOwn(),
}

/** All addresses of this machine, public ones too. */
function listOwn(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return all.map(({ address }) => (address.includes(":") ? `[${address.split("%")[0]}]` : address))
}

/** What comes before or behind the host, so that another one is meant than is read. */
const disguises: Readonly<Record<string, readonly string[]>> = {
  "behind a user name": [
    "nowhere.invalid@127.0.0.1",
    "nowhere.invalid:80@127.0.0.1",
    "a:b@localhost",
    "@127.0.0.1",
    "a@b@127.0.0.1",
  ],
  "behind a backslash": [
    "nowhere.invalid\\\\@127.0.0.1",
    "127.0.0.1\\\\@nowhere.invalid",
    "127.0.0.1\\\\.nowhere.invalid",
  ],
  "behind a fragment": ["nowhere.invalid#@127.0.0.1", "127.0.0.1#@nowhere.invalid"],
  "behind a query": ["nowhere.invalid?@127.0.0.1", "127.0.0.1?.nowhere.invalid"],
  "behind an encoded delimiter": [
    "nowhere.invalid%40127.0.0.1",
    "127.0.0.1%2f.nowhere.invalid",
    "127.0.0.1%00.nowhere.invalid",
    "127.0.0.1%0d%0ahost:x",
  ],
  "behind more slashes than usual": ["//127.0.0.1", "\\\\127.0.0.1", "/\\\\/127.0.0.1"],
}

const groups = {
  "its own machine": loopback,
  "its own machine by": names,
  "an address that is": surroundings,
  "its own machine, hidden": disguises,
}

export const notations: readonly Notation[] = Object.entries(groups).flatMap(([whom, kinds]) =>
  Object.entries(kinds).flatMap(([kind, hosts]) =>
    hosts.map((host) => ({ title: `${whom} ${kind}: ${host}`, host })),
  ),
)
