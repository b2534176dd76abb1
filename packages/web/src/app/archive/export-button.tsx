import { useSignal } from "@preact/signals"
import { Button } from "../parts/buttons/button.tsx"
import type { ExportedFiles } from "./download-zip.ts"

/** Saves the files of a val as an archive. */
export function ExportButton({ of }: { of: ExportedFiles }) {
  const progress = useSignal("")
  const save = async () => {
    const { downloadZip } = await import("./download-zip.ts")
    try {
      await downloadZip(of, (done, total) => {
        progress.value = `${done} of ${total} files`
      })
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
