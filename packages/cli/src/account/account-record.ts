import { limits } from "../limits.ts"
import {
  type Account,
  assertOwner,
  findAccount,
  type KnownVal,
  saveAccount,
} from "./account-state.ts"

/** What the folder of an account records, while steps change it. */
export interface AccountRecord {
  readonly vals: ReadonlyMap<string, KnownVal>
  set(id: string, val: KnownVal): void
  delete(id: string): void
  /** Writes the changes, if the last time was a while ago. */
  saveSoon(): void
  save(): void
}

/** Opens the record of a folder, which may be new. Refuses that of another user. */
export function openAccountRecord(
  folder: string,
  wanted: Pick<Account, "server" | "owner">,
): AccountRecord {
  const found = findAccount(folder)
  if (found) assertOwner(folder, found, wanted)
  const { server, owner } = wanted
  const vals = new Map(found?.vals)
  let isChanged = found === undefined
  let savedMs = Date.now()
  const save = () => {
    if (isChanged) saveAccount(folder, { server, owner, vals })
    isChanged = false
    savedMs = Date.now()
  }
  return {
    vals,
    set(id, val) {
      if (Bun.deepEquals(vals.get(id), val)) return
      vals.set(id, val)
      isChanged = true
    },
    delete(id) {
      isChanged = vals.delete(id) || isChanged
    },
    saveSoon: () => (Date.now() - savedMs >= limits.watchNoteMs ? save() : undefined),
    save,
  }
}
