import { limits as wireLimits } from "@hamlet/contract/limits"
import { api } from "../api.ts"
import { saveFile } from "../storage/save-file.ts"
import type { ValFile } from "./select-files.ts"

const limits = { requestsMax: 6 }

/** Which files are exported: those of a branch, by default `main`, in its newest or another version. */
export interface ExportedFiles {
  readonly valId: string
  /** The name of the val. */
  readonly name: string
  readonly branchId?: string
  readonly version?: number
}

/** Saves the files of a val as an archive in the browser. Empty folders are left out. */
export async function downloadZip(
  exported: ExportedFiles,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<void> {
  const files = await fetchFiles(exported, onProgress)
  const { writeZip } = await import("./write-zip.ts")
  saveFile(writeZip(exported.name, files), `${exported.name}.zip`)
}

/** All files are of one version, also if the val is saved meanwhile. */
async function fetchFiles(
  { valId, branchId = valId, version }: ExportedFiles,
  onProgress: (done: number, total: number) => void,
): Promise<readonly ValFile[]> {
  const of = { val_id: valId, branch_id: branchId }
  const query = { ...of, version: version ?? (await api.getBranch(of)).version }
  const listed = await Array.fromAsync(
    api.items("listFiles", {
      ...{ ...query, path: "", recursive: true, limit: wireLimits.pageItemsMax },
    }),
  )
  const wanted = listed.flatMap(({ path, type }) => (type === "directory" ? [] : [{ path, type }]))
  const files: ValFile[] = []
  const left = wanted.toReversed()
  const worker = async () => {
    for (let file = left.pop(); file !== undefined; file = left.pop()) {
      const response = await api.getFileContent({ ...query, path: file.path })
      // Unlike `text()`, which drops a mark of the byte order.
      const content = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
        await response.arrayBuffer(),
      )
      files.push({ ...file, content })
      onProgress(files.length, wanted.length)
    }
  }
  await Promise.all(Array.from({ length: limits.requestsMax }, worker))
  return files.sort((one, other) => (one.path < other.path ? -1 : 1))
}
