import { useSignal } from "@preact/signals"
import { api } from "../api.ts"
import { Button } from "../parts/buttons/button.tsx"
import { saveFile } from "../storage/save-file.ts"
import { listAllFiles, readText } from "../val/files/load-files.ts"
import type { ValFile } from "./select-files.ts"

const limits = { requestsMax: 6 }

/** Saves the files of a val as an archive: the newest ones of `main`, without empty folders. */
export function ExportButton({ valId, name }: { valId: string; name: string }) {
  const progress = useSignal("")
  const save = async () => {
    try {
      const files = await fetchFiles(valId, (done, total) => {
        progress.value = `${done} of ${total} files`
      })
      const { writeZip } = await import("./write-zip.ts")
      saveFile(writeZip(name, files), `${name}.zip`)
    } finally {
      progress.value = ""
    }
  }
  return (
    <Button kind="quiet" icon="download" action={save}>
      {progress.value || "Download as .zip"}
    </Button>
  )
}

/** All files are of one version, also if the val is saved meanwhile. */
async function fetchFiles(
  valId: string,
  onProgress: (done: number, total: number) => void,
): Promise<readonly ValFile[]> {
  const branch = await api.getBranch({ val_id: valId, branch_id: valId })
  const listed = await listAllFiles(valId, branch)
  const { version } = branch
  const left = listed.flatMap(({ path, type }) => (type === "directory" ? [] : [{ path, type }]))
  const total = left.length
  const files: ValFile[] = []
  const worker = async () => {
    for (let file = left.pop(); file !== undefined; file = left.pop()) {
      const content = await readText(valId, valId, { path: file.path, version })
      files.push({ ...file, content })
      onProgress(files.length, total)
    }
  }
  await Promise.all(Array.from({ length: limits.requestsMax }, worker))
  return files.sort((one, other) => (one.path < other.path ? -1 : 1))
}
