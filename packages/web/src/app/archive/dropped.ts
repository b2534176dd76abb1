import type { FileSource, SelectedFiles } from "./select-files.ts"

/** What was dropped or chosen: a folder, files, or an archive. */
export interface Dropped {
  /** The name of the folder or archive; undefined for several things. */
  readonly name: string | undefined
  list(): Promise<readonly FileSource[]>
}

/** Whether a drag has files, rather than text or a link of this page. */
export function hasFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes("Files") ?? false
}

/**
 * Takes what was dropped. It must be called before the handler of the event returns: afterwards the
 * browser has forgotten it.
 */
export function takeDropped(transfer: DataTransfer): Dropped {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  const files = [...transfer.files]
  const [only] = entries
  if (!only || (entries.length === 1 && only.isFile)) return takeChosen(files)
  return {
    name: entries.length === 1 ? only.name : undefined,
    list: async () => (await import("./list-entries.ts")).listEntries(entries),
  }
}

/** Takes what was chosen in a file input: files, those of a folder, or an archive. */
export function takeChosen(files: readonly File[]): Dropped {
  const [only] = files
  if (only && files.length === 1 && /\.zip$/i.test(only.name))
    return {
      name: only.name.replace(/\.zip$/i, ""),
      list: async () => (await import("./read-zip.ts")).listZip(only),
    }
  return {
    name: only?.webkitRelativePath.split("/", 1)[0] || undefined,
    list: async () => (await import("./list-entries.ts")).listChosen(files),
  }
}

/**
 * Reads the text files of what was dropped, with their types. The folder that everything is in is not
 * part of their paths, unless it is kept. What cannot be read at all is refused.
 */
export async function readDropped(
  dropped: Dropped,
  options: { readonly keepsFolder?: boolean } = {},
): Promise<SelectedFiles> {
  const { selectFiles } = await import("./select-files.ts")
  try {
    return await selectFiles(await dropped.list(), options)
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    if (/^Cannot /.test(problem)) throw cause
    throw new Error(`Cannot read ${dropped.name ?? "the files"}: ${problem}`, { cause })
  }
}
