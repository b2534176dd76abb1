import { type Signal, signal } from "@preact/signals"
import { readStored, writeStored } from "../../data/stored.ts"

/** What the user is about to create, and in which folder. */
export const newEntry: Signal<
  { readonly kind: "file" | "folder"; readonly parent: string } | undefined
> = signal(undefined)

/** The path of the file whose editor gets the focus when it is there; the entry file of a new val. */
export const focusWanted: Signal<{ readonly path: string } | "entry" | undefined> =
  signal(undefined)

/** Whether the dialog with the unsaved changes is open. */
export const isReviewing: Signal<boolean> = signal(false)

/** The folders of a val that the user has closed, in the browser's storage. */
export class ClosedFolders {
  readonly paths: Signal<ReadonlySet<string>>
  readonly #key: string

  constructor(valId: string) {
    this.#key = `hamlet.closed.${valId}`
    this.paths = signal(new Set(readPaths(readStored(this.#key))))
  }

  set(path: string, isClosed: boolean): void {
    const paths = new Set(this.paths.peek())
    if (isClosed) paths.add(path)
    else paths.delete(path)
    this.paths.value = paths
    writeStored(this.#key, paths.size === 0 ? null : JSON.stringify([...paths]))
  }
}

function readPaths(text: string | null): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]")
    return Array.isArray(value) ? value.filter((path) => typeof path === "string") : []
  } catch {
    return []
  }
}
