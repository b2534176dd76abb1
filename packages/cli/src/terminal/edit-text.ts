import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { CliError } from "../cli-error.ts"
import type { Context } from "../context.ts"

/** A text that somebody has edited, and the file that it is still in. */
export interface EditedText {
  readonly text: string
  readonly path: string
  /** Deletes the file: the text is safe elsewhere, or not worth keeping. */
  discard(): void
}

/**
 * Opens the person's editor on a text. The file stays until it is discarded, so that nothing that
 * was written is lost.
 */
export async function editText(
  { env, interruption }: Pick<Context, "env" | "interruption">,
  text: string,
  fileName: string,
): Promise<EditedText> {
  const editor = env.VISUAL || env.EDITOR || "vi"
  const path = join(mkdtempSync(join(tmpdir(), "hamlet-edit-")), fileName)
  const discard = () => rmSync(dirname(path), { recursive: true, force: true })
  writeFileSync(path, text, { mode: 0o600 })
  // Ctrl-C is a key of the editor's while it is open.
  const listenAgain = interruption.ignoreInterrupts()
  try {
    const code = await runEditor(editor, path)
    const edited = readFileSync(path, "utf8")
    if (code === 0) return { text: edited, path, discard }
    if (edited === text) discard()
    throw new CliError(
      "failed",
      `Cannot save: the editor "${editor}" ended with ${code}${edited === text ? "" : `, and what you wrote is in "${path}"`}`,
      {
        advice: "VISUAL or EDITOR in the environment chooses another",
      },
    )
  } finally {
    listenAgain()
  }
}

/** Through a shell, because the variable may have arguments in it, as in `code --wait`. */
function runEditor(editor: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", path], { stdio: "inherit" })
    child.once("error", reject)
    child.once("exit", (code, signal) => resolve(code ?? (signal ? 128 : 1)))
  })
}
