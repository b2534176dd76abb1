import { type FileSource, isIgnored } from "./select-files.ts"

const limits = { entriesMax: 20_000, levelsMax: 32 }

/** The files in folders that were dropped. Folders that never belong to a val are not opened. */
export async function listEntries(
  entries: readonly FileSystemEntry[],
): Promise<readonly FileSource[]> {
  const sources: FileSource[] = []
  let seen = 0
  const visit = async (entry: FileSystemEntry, parent: string, level: number): Promise<void> => {
    seen += 1
    const path = parent + entry.name
    if (isIgnored(path)) return
    if (seen > limits.entriesMax || level > limits.levelsMax)
      throw new Error(
        `it has more than ${limits.entriesMax.toLocaleString("en")} files, or ${limits.levelsMax} levels of folders`,
      )
    if (entry.isDirectory)
      for (const inner of await readFolder(entry as FileSystemDirectoryEntry))
        await visit(inner, `${path}/`, level + 1)
    else sources.push(toSource(await toFile(entry as FileSystemFileEntry), path))
  }
  for (const entry of entries) await visit(entry, "", 0)
  return sources
}

/** The files that an input has. */
export function listChosen(files: readonly File[]): readonly FileSource[] {
  return files.map((file) => toSource(file, file.webkitRelativePath || file.name))
}

/** The browser gives the content of a folder in parts, and an empty one at its end. */
async function readFolder(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (part.length === 0 || all.length > limits.entriesMax) return all
    all.push(...part)
  }
}

function toFile(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

function toSource(file: File, path: string): FileSource {
  return {
    path,
    bytes: file.size,
    read: async () => new Uint8Array(await file.arrayBuffer()),
  }
}
