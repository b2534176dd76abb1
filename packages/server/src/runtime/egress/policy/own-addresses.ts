import { networkInterfaces } from "node:os"
import { parseAddress } from "./address-rule.ts"

/**
 * The addresses of this machine, in the notation of `Address.text`. The same set comes back until
 * the interfaces have changed, so a decision can be kept together with the set that it was made
 * with.
 */
export type ReadOwnAddresses = () => ReadonlySet<string>

/** What is needed of the operating system. */
export interface OwnAddressOptions {
  readonly list?: () => readonly string[]
  readonly nowMs?: () => number
}

/**
 * To read the interfaces takes 50 µs, which is too much for every request. An address that is new
 * counts after this time at the latest.
 */
const keptMs = 1_000

/**
 * Reads the addresses of all interfaces, and again when what was read is a second old: machines get
 * and lose addresses while they run.
 */
export function createReadOwnAddresses({
  list = listInterfaces,
  nowMs = performance.now.bind(performance),
}: OwnAddressOptions = {}): ReadOwnAddresses {
  let known: ReadonlySet<string> = new Set()
  let readAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const now = nowMs()
    if (now - readAtMs < keptMs) return known
    readAtMs = now
    const read = new Set(list().flatMap((text) => parseAddress(withoutZone(text))?.text ?? []))
    if (read.size !== known.size || !read.isSubsetOf(known)) known = read
    return known
  }
}

function listInterfaces(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.map(({ address }) => address),
  )
}

/** A link-local address may come with the interface that it is for. */
function withoutZone(text: string): string {
  return text.split("%", 1)[0] ?? text
}
