// npm start: the server, or another of its commands, also on a fresh clone. Nothing is imported that Node does not have, and little, since every start pays for it.
import { join } from "node:path"
import { runInForeground } from "./child.mjs"
import { ensurePackages } from "./setup/packages.mjs"
import { bun, root } from "./setup/root.mjs"

ensurePackages({ dev: false })
const main = join(root, "packages", "server", "src", "main.ts")
process.exitCode = await runInForeground(bun, [main, ...process.argv.slice(2)], { cwd: root })
