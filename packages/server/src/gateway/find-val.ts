import { toValNameKey } from "@hamlet/contract"
import type { Val, ValStore } from "../domain/vals/vals.ts"
import type { ValAddress } from "./val-hosts.ts"

/**
 * Finds the current val at an address, with the file that responds. By name, it finds only vals that
 * the viewer may see.
 */
export type FindVal = (
  address: ValAddress,
  viewerId: string | undefined,
) => Promise<Val | undefined>

/**
 * The store finds vals by id much faster than by name, so the ids of names are cached here; without
 * the cache a small request takes a third more CPU. A cached id counts only while the val still has
 * these names; otherwise the store is asked by name.
 */
export function createFindVal(
  vals: Pick<ValStore, "findById" | "findByFile" | "findByName">,
  openPass: (pass: string) => string | undefined,
  addressesMax: number,
): FindVal {
  const ids = new Map<string, string>()
  const findByName = async (address: ValAddress, viewerId: string | undefined) => {
    const val = await vals.findByName(address.username, address.name, viewerId)
    // A private val is not cached: finding it must take as long as finding none.
    if (!val || val.privacy === "private") return val
    if (ids.size >= addressesMax) ids.clear()
    ids.set(address.host, val.id)
    return val
  }
  return async (address, viewerId) => {
    // Not cached: a pass expires, and the key that signed it may be replaced.
    const fileId = address.pass === undefined ? address.id : openPass(address.pass)
    if (fileId !== undefined) {
      const val = await vals.findByFile(fileId)
      // The id of a val means its entry file, even where it is the id of another file.
      return val && val.id !== fileId ? val : vals.findById(fileId)
    }
    if (address.pass !== undefined) return undefined
    const id = ids.get(address.host)
    const val = id === undefined ? undefined : await vals.findById(id)
    if (val && hasNames(val, address) && val.privacy !== "private") return val
    ids.delete(address.host)
    return findByName(address, viewerId)
  }
}

/** The names of an address are in lower case; `-` in the name of a val is the same as `_`. */
function hasNames({ ownerName, name }: Val, address: ValAddress): boolean {
  return (
    toValNameKey(name) === toValNameKey(address.name) &&
    ownerName.toLowerCase() === address.username
  )
}
