import { networkInterfaces } from "node:os"
import { parseAddress } from "./address-rule.ts"

/**
 * The addresses of this machine, in the notation of `Address.text`. Returns the same set until the
 * interfaces change, so that a cached decision is valid as long as the set is the same.
 */
export type ReadOwnAddresses = () => ReadonlySet<string>

/** The operating system and the clock; tests replace them. */
export interface OwnAddressOptions {
  readonly list?: () => readonly string[]
  readonly nowMs?: () => number
}

/**
 * Reading the interfaces takes 50 µs, which is too much for every request. A new address is known
 * after this time at the latest.
 */
const keptMs = 1_000

/** Reads the addresses of all interfaces again when they are a second old. */
export function createReadOwnAddresses({
  list = listInterfaces,
  nowMs = performance.now.bind(performance),
}: OwnAddressOptions = {}): ReadOwnAddresses {
  let known: ReadonlySet<string> = new Set()
  let readAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const now = nowMs()
    if (now - readAtMs < keptMs) return known
    const read = tryToRead(list, known)
    readAtMs = now
    if (read.size !== known.size || !read.isSubsetOf(known)) known = read
    return known
  }
}

/** Reading takes a file, of which the server may have none left. Then what was read last holds. */
function tryToRead(list: () => readonly string[], last: ReadonlySet<string>): ReadonlySet<string> {
  try {
    return new Set(list().flatMap((text) => parseAddress(withoutZone(text))?.text ?? []))
  } catch (error) {
    if (last.size === 0) throw error
    return last
  }
}

function listInterfaces(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.map(({ address }) => address),
  )
}

/** A link-local address may include its interface, as in `fe80::1%eth0`. */
function withoutZone(text: string): string {
  return text.split("%", 1)[0] ?? text
}
