import type { Val, ValStore } from "../domain/vals/vals.ts"
import type { ValAddress } from "./val-hosts.ts"

type Found = Val | undefined

/**
 * Finds the val at an address, as it stands at this moment: at once where the store does. By its
 * names, it is found only for those who may see it.
 */
export type FindVal = (address: ValAddress, viewerId: string | undefined) => Promise<Found>

/**
 * Stores find vals by their ids with the least effort, so the ids that belong to names are kept
 * here. A val that was found by its id and still has the names is the one that the names belong to;
 * for any other the store is asked for the names.
 */
export function createFindVal(
  vals: Pick<ValStore, "findById" | "findByName">,
  openPass: (pass: string) => string | undefined,
  addressesMax: number,
): FindVal {
  const ids = new Map<string, string>()
  const findByName = async (address: ValAddress, viewerId: string | undefined) => {
    const val = await vals.findByName(address.username, address.name, viewerId)
    // Looking for a private val has to take as long as looking for one that does not exist.
    if (!val || val.privacy === "private") return val
    if (ids.size >= addressesMax) ids.clear()
    ids.set(address.host, val.id)
    return val
  }
  const check = (val: Found, address: ValAddress, viewerId: string | undefined) => {
    if (val && hasNames(val, address) && val.privacy !== "private") return val
    ids.delete(address.host)
    return findByName(address, viewerId)
  }
  return async (address, viewerId) => {
    if (address.id !== undefined) return vals.findById(address.id)
    if (address.pass !== undefined) {
      // Looked at each time: it may have come to its end, or the key to another.
      const opened = openPass(address.pass)
      return opened === undefined ? undefined : vals.findById(opened)
    }
    const id = ids.get(address.host)
    if (id === undefined) return findByName(address, viewerId)
    return check(await vals.findById(id), address, viewerId)
  }
}

function hasNames({ ownerName, name }: Val, address: ValAddress): boolean {
  return isSame(name, address.name) && isSame(ownerName, address.username)
}

function isSame(name: string, lower: string): boolean {
  return name === lower || name.toLowerCase() === lower
}
