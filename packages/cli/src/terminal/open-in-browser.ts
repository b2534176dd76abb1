import { spawn } from "node:child_process"
import type { Env } from "../context.ts"

/** Opens an address. Gives the program that was to do it, and whether there is such a program. */
export async function openInBrowser(
  env: Env,
  url: string,
): Promise<{ readonly program: string; readonly isOpened: boolean }> {
  const program = env.BROWSER || (process.platform === "darwin" ? "open" : "xdg-open")
  const isOpened = await new Promise<boolean>((resolve) => {
    const child = spawn(program, [url], { stdio: "ignore", detached: true })
    child.once("error", () => resolve(false))
    // Whether it stays in front or hands the address on to one that is open already is up to the
    // browser.
    child.once("spawn", () => resolve(true))
    child.unref()
  })
  return { program, isOpened }
}
