import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { CliError } from "../cli-error.ts"
import type { Context } from "../context.ts"
import { readInput } from "./read-input.ts"

/** An edited text and the file that still contains it. */
export interface EditedText {
  readonly text: string
  readonly path: string
  /** Deletes the file, once the text is saved elsewhere or not needed. */
  discard(): void
}

/** Opens the user's editor. The file stays until it is discarded, so that no text is lost. */
export async function editText(
  { env, interruption }: Pick<Context, "env" | "interruption">,
  text: string,
  fileName: string,
): Promise<EditedText> {
  const editor = env.VISUAL || env.EDITOR || "vi"
  const path = join(mkdtempSync(join(tmpdir(), "hamlet-edit-")), fileName)
  const discard = () => rmSync(dirname(path), { recursive: true, force: true })
  writeFileSync(path, text, { mode: 0o600 })
  // The editor handles Ctrl-C while it is open.
  const listenAgain = interruption.ignoreInterrupts()
  try {
    const code = await runEditor(editor, path)
    const edited = readFileSync(path, "utf8")
    if (code === 0) return { text: edited, path, discard }
    if (edited === text) discard()
    throw new CliError(
      "failed",
      `Cannot save: the editor "${editor}" exited with ${code}${edited === text ? "" : `, and your text is in "${path}"`}`,
      {
        advice: "set VISUAL or EDITOR to choose another editor",
      },
    )
  } finally {
    listenAgain()
  }
}

/** A text of the user, and the file that it was edited in, if any. */
export interface Draft {
  readonly text: string
  /** How error messages name where it comes from. */
  readonly source: string
  readonly edited?: EditedText
}

/** Reads a text from standard input, or from the editor, which begins with `text`. */
export async function readDraft(
  context: Pick<Context, "env" | "interruption">,
  text: string,
  fileName: string,
): Promise<Draft> {
  if (!process.stdin.isTTY) return { text: await readInput(), source: "standard input" }
  const edited = await editText(context, text, fileName)
  return { text: edited.text, source: edited.path, edited }
}

/** Saves a text. If that fails, the file that it was edited in stays, unless it is empty. */
export async function saveDraft(
  { output }: Pick<Context, "output">,
  edited: EditedText | undefined,
  save: () => Promise<void>,
): Promise<void> {
  try {
    await save()
  } catch (error) {
    if (edited?.text.trim() === "") edited.discard()
    else if (edited) output.note(`Your text is in "${edited.path}"`)
    throw error
  }
  edited?.discard()
}

/** Through a shell, because the variable may contain arguments, as in `code --wait`. */
function runEditor(editor: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", path], { stdio: "inherit" })
    child.once("error", reject)
    child.once("exit", (code, signal) => resolve(code ?? (signal ? 128 : 1)))
  })
}
