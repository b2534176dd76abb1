// npm start: runs the server or another of its commands, also in a fresh clone. Imports only
// built-ins of Node, and few, because every start pays for them.
import { spawn } from "node:child_process"
import { join } from "node:path"
import { runInForeground, runServer } from "./child.mjs"
import { ensureBubblewrap } from "./setup/bubblewrap.mjs"
import { ensurePackages } from "./setup/packages.mjs"
import { bun, root } from "./setup/root.mjs"

const args = process.argv.slice(2)
const isServer = args[0] === undefined || args[0] === "serve" || args[0].startsWith("-")
await Promise.all([
  ensurePackages({ dev: false }),
  isServer && !isBareDenoChosen() && ensureBubblewrap({ isRoot: process.getuid?.() === 0 }),
])
if (isServer) prepareWebApp()
const main = join(root, "packages", "server", "src", "main.ts")
process.exitCode = await (isServer ? runServer : runInForeground)(bun, [main, ...args], {
  cwd: root,
})

/**
 * Whether the operator has disabled bubblewrap. Other problems of the settings are reported by the
 * server.
 */
function isBareDenoChosen() {
  const flag = args.indexOf("--isolation")
  const chosen =
    args.find((arg) => arg.startsWith("--isolation="))?.split("=")[1] ??
    (flag === -1 ? undefined : args[flag + 1])
  return (chosen ?? process.env.HAMLET_ISOLATION) === "deno"
}

/**
 * Builds the web app while the server starts, if it is missing, so that the first page does not wait
 * for it. The server would build it too.
 */
function prepareWebApp() {
  const build = join(root, "packages", "web", "src", "build", "main.ts")
  const child = spawn(bun, [build], { stdio: ["pipe", "ignore", "inherit"] })
  child.once("error", () => {})
  // The build does not keep this process running, and ends with it.
  child.unref()
  Reflect.get(child.stdin ?? {}, "unref")?.call(child.stdin)
}
