import { toFileName } from "@hamlet/contract/file-paths"
import type { ValFile } from "../../archive/select-files.ts"
import { showDone, showError } from "../../frame/toast-list.ts"
import type { ValEditing } from "../code/val-editing.ts"
import type { EditedFile } from "./edited-file.ts"
import { findPlaceProblem } from "./find-place-problem.ts"
import type { FileType } from "./load-files.ts"

/** What users do with the files of a val. Paths are checked at once; all is saved with the next save. */
export type FileActions = ReturnType<typeof createFileActions>

export function createFileActions(editing: ValEditing) {
  const { files } = editing
  const listPlaced = () =>
    files.present.peek().map((file) => ({ path: file.path.peek(), type: file.type.peek() }))
  const findProblem = (to: string, from?: string) => findPlaceProblem(listPlaced(), to, from)
  const restore = (deleted: readonly EditedFile[]) => {
    for (const file of deleted) {
      const problem = findProblem(file.path.peek())
      // A folder may exist again because of new files in it.
      if (problem && file.type.peek() !== "directory") {
        showError(problem)
        return
      }
    }
    files.undelete(deleted)
  }
  return {
    findProblem,
    /** Adds a file or folder. */
    add(path: string, type: FileType, text?: string): EditedFile {
      const file = files.add(path, type, text)
      if (type !== "directory") files.open(file)
      return file
    },
    /** Moves a file or folder. Returns whether it is there; if not, it has said why. */
    move(from: string, to: string): boolean {
      const problem = findProblem(to, from)
      if (problem) showError(problem)
      else if (to !== from) files.move(from, to)
      return problem === undefined
    },
    delete(path: string): void {
      const current = files.current.peek()
      const deleted = files.delete(path)
      showDone(`Deleted ${toFileName(path)}`, {
        label: "Undo",
        run() {
          restore(deleted)
          if (current && deleted.includes(current) && !current.isDeleted.peek()) files.open(current)
        },
      })
    },
    restore,
    /** Drops the unsaved changes of a file. They are set aside. */
    async discard(file: EditedFile): Promise<void> {
      const saved = file.saved.peek()
      const at = file.isDeleted.peek() ? undefined : file.path.peek()
      const problem = saved && saved.path !== at ? findProblem(saved.path, at) : undefined
      if (problem) {
        showError(problem)
        return
      }
      await editing.takeSaved([file])
    },
    /** The given files at whose path there is a file already. */
    findReplaced(given: readonly ValFile[]): readonly ValFile[] {
      return given.filter(({ path }) => files.find(path))
    },
    /** Adds files from outside, in place of those with the same path. Throws if one cannot be there. */
    addGiven(given: readonly ValFile[]): void {
      const placed = listPlaced()
      for (const file of given) {
        const problem = files.find(file.path) ? undefined : findPlaceProblem(placed, file.path)
        if (problem) throw new Error(problem)
        placed.push(file)
      }
      for (const { path, type, content } of given) {
        const known = files.find(path)
        if (known) files.type(content, known)
        else files.add(path, type, content)
      }
      const first = given[0] && files.find(given[0].path)
      if (first) files.open(first)
    },
  }
}
