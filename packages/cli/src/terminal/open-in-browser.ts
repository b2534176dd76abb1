import { spawn } from "node:child_process"
import type { Env } from "../context.ts"

/** Opens a URL. Returns the program used, and whether it exists. */
export async function openInBrowser(
  env: Env,
  url: string,
): Promise<{ readonly program: string; readonly isOpened: boolean }> {
  const program = env.BROWSER || (process.platform === "darwin" ? "open" : "xdg-open")
  const isOpened = await new Promise<boolean>((resolve) => {
    const child = spawn(program, [url], { stdio: "ignore", detached: true })
    child.once("error", () => resolve(false))
    // A browser may stay in the foreground or pass the URL to a running instance.
    child.once("spawn", () => resolve(true))
    child.unref()
  })
  return { program, isOpened }
}
