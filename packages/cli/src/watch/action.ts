import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Client } from "@hamlet/contract/client"
import type { FileState, FolderState } from "../files/folder-state.ts"
import { hashText } from "../files/val-file.ts"
import type { Val } from "../names/find-val.ts"
import type { Decision } from "./decide.ts"
import type { SyncEvent } from "./events.ts"
import type { Match } from "./match-sides.ts"
import type { FoundFile } from "./scan-folder.ts"

/** What there is to do about one val. */
export interface Action {
  readonly match: Match
  readonly decision: Decision
  /** The val with its code, where that is needed. */
  readonly val: Val | undefined
}

/** What doing it needs. */
export interface ActionDeps {
  readonly client: Client
  readonly folder: string
  readonly state: FolderState
  /** The id of whoever the vals belong to. */
  readonly owner: string
  /** Whether there is something at a path of the folder, whatever its case. */
  isTaken(path: string): boolean
  tell(event: SyncEvent): void
}

/** `raced` when things have changed meanwhile: nothing is lost, and looking again shows what there is to do. */
export type ActionResult = "done" | "raced"

/** One way to act. */
export type Perform = (deps: ActionDeps, action: Action) => ActionResult | Promise<ActionResult>

/** Notes what file and val have in common now; `before` is where the file was noted until now. */
export function setBase({ state, folder }: ActionDeps, path: string, before: string | undefined, base: FileState): void {
  if (before !== undefined && before !== path) state.delete(join(folder, before))
  state.set(join(folder, path), base)
}

/** What a file has now, if that is what was found. */
export function readFound(folder: string, { path, hash }: FoundFile): string | undefined {
  try {
    const text = readFileSync(join(folder, path), "utf8")
    return hashText(text) === hash ? text : undefined
  } catch {
    return undefined
  }
}
