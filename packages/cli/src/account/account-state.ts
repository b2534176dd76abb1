import { isRecord } from "@hamlet/contract/is-record"
import { CliError } from "../cli-error.ts"
import { findState, isId, toStatePath, writeState } from "../files/state-file.ts"

/** What the folder of an account records of a val: the state in which folder and val last agreed. */
export interface KnownVal {
  /** The name of its folder. */
  readonly folder: string
  readonly name: string
  readonly version: number
  /** The folder was deleted and the val was kept: it is fetched again only after it changes. */
  readonly isLeft?: true
}

/** A folder with the vals of one user, each in a folder of its own. */
export interface Account {
  readonly server: string
  readonly owner: { readonly id: string; readonly username: string }
  /** By the id of the val. */
  readonly vals: ReadonlyMap<string, KnownVal>
}

/** Reads what the folder of an account records; undefined if it is none yet. */
export function findAccount(folder: string): Account | undefined {
  const found = findState(toPath(folder), isStored, "delete it, and run the command again")
  return found && { ...found, vals: new Map(Object.entries(found.vals)) }
}

/** Records the folder of an account. */
export function saveAccount(folder: string, { server, owner, vals }: Account): void {
  writeState(folder, toPath(folder), { server, owner, vals: Object.fromEntries(vals) })
}

/** Refuses a folder that belongs to another user, or to another server. */
export function assertOwner(
  folder: string,
  { server, owner }: Account,
  wanted: Pick<Account, "server" | "owner">,
): void {
  if (server === wanted.server && owner.id === wanted.owner.id) return
  const problem = `it is the folder of ${owner.username} on ${server}`
  throw new CliError("usage", `Cannot use "${folder}": ${problem}`, {
    advice: "name another folder",
  })
}

/** The name in `.hamlet`: folders with this file have one folder per val. */
function toPath(folder: string): string {
  return toStatePath(folder, "account.json")
}

type Stored = Omit<Account, "vals"> & { readonly vals: Readonly<Record<string, KnownVal>> }

/** The folder may come from someone else: its state must not lead to folders elsewhere. */
function isStored(value: unknown): value is Stored {
  if (!isRecord(value)) return false
  const { server, owner, vals } = value
  return (
    typeof server === "string" &&
    isRecord(owner) &&
    isId(owner.id) &&
    typeof owner.username === "string" &&
    isRecord(vals) &&
    Object.entries(vals).every(([id, val]) => isId(id) && isKnownVal(val))
  )
}

function isKnownVal(value: unknown): value is KnownVal {
  if (!isRecord(value)) return false
  const { folder, name, version, isLeft } = value
  return (
    typeof folder === "string" &&
    !/[/\\]|^\.{0,2}$/.test(folder) &&
    typeof name === "string" &&
    Number.isSafeInteger(version) &&
    (isLeft === undefined || isLeft === true)
  )
}
