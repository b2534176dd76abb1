// npm run soak: a mixed load for a long time, to check that the server's memory levels off.
import { runInForeground } from "./child.mjs"
import { ensurePackages } from "./setup/packages.mjs"
import { bun, root } from "./setup/root.mjs"
import { ensureSystemPackages, requirements } from "./setup/system-packages.mjs"

await ensurePackages({ dev: true })
await ensureSystemPackages([requirements.bubblewrap])
process.exitCode = await runInForeground(bun, ["bench/soak/main.ts", ...process.argv.slice(2)], {
  cwd: root,
})
