import { toValNameKey } from "@hamlet/contract"
import { RecentMap } from "@hamlet/kit"
import type { Viewer } from "../domain/access/rights.ts"
import type { Val, ValStore } from "../domain/vals/vals.ts"
import type { ValAddress } from "./val-hosts.ts"

/**
 * Finds the current val at an address, with the file that responds. By name, it finds only vals that
 * the viewer may see.
 */
export type FindVal = (address: ValAddress, viewer: Viewer | undefined) => Promise<Val | undefined>

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
  const ids = new RecentMap<string, string>(addressesMax)
  const findByName = async (address: ValAddress, viewer: Viewer | undefined) => {
    const val = await vals.findByName(address.username, address.name, viewer)
    // A private val is not cached: finding it must take as long as finding none.
    if (!val || val.privacy === "private") return val
    ids.set(address.host, val.id)
    return val
  }
  /** The file that has the address of the val: the entry file, unless another had it first. */
  const findAddressed = (val: Val | undefined) =>
    !val || val.endpointFileId === null || val.endpointFileId === val.file.id
      ? val
      : vals.findByFile(val.endpointFileId)
  return async (address, viewer) => {
    // Not cached: a pass expires, and the key that signed it may be replaced.
    const fileId = address.pass === undefined ? address.id : openPass(address.pass)
    if (fileId !== undefined) {
      const file = await vals.findByFile(fileId)
      // The id of a val is an address of the val, even where it is the id of one of its files.
      const isFile = file && (file.id !== fileId || address.pass !== undefined)
      return isFile ? file : findAddressed(await vals.findById(fileId))
    }
    if (address.pass !== undefined) return undefined
    const id = ids.get(address.host)
    const val = id === undefined ? undefined : await vals.findById(id)
    if (val && hasNames(val, address) && val.privacy !== "private") return findAddressed(val)
    ids.delete(address.host)
    return findAddressed(await findByName(address, viewer))
  }
}

/** The names of an address are in lower case; `-` in the name of a val is the same as `_`. */
function hasNames({ ownerName, name }: Val, address: ValAddress): boolean {
  return (
    toValNameKey(name) === toValNameKey(address.name) &&
    ownerName.toLowerCase() === address.username
  )
}
