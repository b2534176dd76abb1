import { expect, test } from "bun:test"
import { getPriority } from "node:os"
import { fileURLToPath } from "node:url"

const module = fileURLToPath(new URL("./lower-priority.ts", import.meta.url))
const program = `import { getPriority } from "node:os"
import { lowerPriority } from ${JSON.stringify(module)}
lowerPriority()
process.stdout.write(String(getPriority(0)))`

test.if(process.platform === "linux")(
  "lowerPriority keeps the priority of a server that was started with a lower one",
  () => {
    // An ordinary user may not raise it again: that would be an error.
    const ended = Bun.spawnSync(["nice", "-n", "19", process.execPath, "-e", program])
    expect(`${ended.stdout}${ended.stderr}`).toBe(String(Math.min(19, getPriority() + 19)))
  },
)
