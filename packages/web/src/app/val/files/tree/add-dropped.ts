import { joinPath } from "@hamlet/contract/file-paths"
import { readDropped, takeDropped } from "../../../archive/dropped.ts"
import { showDone } from "../../../frame/toast-list.ts"
import type { FileActions } from "../file-actions.ts"

/**
 * Adds what was dropped on a folder of the tree: files, a folder with its name, or the content of an
 * archive. Must be called before the handler of the event returns.
 */
export async function addDropped(
  actions: FileActions,
  transfer: DataTransfer,
  folder: string,
): Promise<void> {
  const [file] = transfer.files
  const isArchive = transfer.files.length === 1 && /\.zip$/i.test(file?.name ?? "")
  const { files, skipped } = await readDropped(takeDropped(transfer), { keepsFolder: !isArchive })
  const given = files.map((one) => ({ ...one, path: joinPath(folder, one.path) }))
  const replaced = actions.findReplaced(given)
  if (replaced.length > 0 && !confirm(toQuestion(replaced.map(({ path }) => path)))) return
  actions.addGiven(given)
  const left = skipped
    .slice(0, shownMax)
    .map(({ path, problem }) => `${joinPath(folder, path)} (${problem})`)
  showDone(
    `Added ${toCount(given.length)}${skipped.length === 0 ? "" : `; left out ${toCount(skipped.length)}: ${left.join(", ")}`}`,
  )
}

const shownMax = 5

function toQuestion(paths: readonly string[]): string {
  const shown = paths.slice(0, shownMax).join(", ")
  return `Replace the text of ${toCount(paths.length)}? ${shown}${paths.length > shownMax ? ", …" : ""}`
}

function toCount(count: number): string {
  return count === 1 ? "1 file" : `${count} files`
}
