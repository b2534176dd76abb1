import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { findDeno } from "../../scripts/find-deno.ts"
import { isBrief } from "../harness/brief.ts"
import { type Program, startBare, startProgram } from "../harness/program.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { helloCode } from "../runs/vals.ts"
import { findWorkerd } from "./install.ts"

// Peers are not installed for a brief run, in which the bare proxy takes their place.

/**
 * `@valtown/deno-http-worker` behind an HTTP server of Node. With `isNext`, it uses its options for a
 * faster start.
 */
export function startDenoHttpWorker({
  isNext,
  imports = "",
}: {
  readonly isNext: boolean
  readonly imports?: string
}): Promise<Program> {
  if (isBrief) return startBareProxy()
  const folder = createScratchFolder()
  const env = {
    ...denoEnvironment(folder),
    BENCH_DENO: findDeno(),
    BENCH_NEXT: isNext ? "1" : "0",
    BENCH_IMPORTS: imports,
    TMPDIR: folder,
  }
  return startProgram(["node", join(import.meta.dir, "deno-http-worker.mjs")], {
    env,
    log: join(folder, "log"),
  })
}

/** The Worker Loader of workerd, which is a server itself. */
export function startWorkerLoader(): Promise<Program> {
  if (isBrief) return startBareProxy()
  // Descriptor 1 is standard output: workerd prints its port there.
  const command = [
    findWorkerd(),
    "serve",
    "--experimental",
    "--control-fd=1",
    join(import.meta.dir, "worker-loader.capnp"),
  ]
  const toUrl = (output: string) => {
    const port = /"port":(\d+)/.exec(output)?.[1]
    return port && `http://127.0.0.1:${port}`
  }
  return startProgram(command, { env: {}, log: join(createScratchFolder(), "log"), toUrl })
}

/**
 * The minimum between a client and a Deno process: a bare `Bun.serve` that forwards requests to a
 * bare `Deno.serve`.
 */
export async function startBareProxy(): Promise<Program> {
  const folder = createScratchFolder()
  await Bun.write(join(folder, "val.ts"), helloCode)
  await Bun.write(
    join(folder, "serve.ts"),
    `import val from "./val.ts"
Deno.serve({ path: Deno.args[0], onListen: () => console.log("listens at http://localhost") }, val)
`,
  )
  const socket = join(folder, "deno.sock")
  const command = [
    findDeno(),
    "run",
    "--no-config",
    "--no-lock",
    "--allow-all",
    join(folder, "serve.ts"),
    socket,
  ]
  const deno = await startProgram(command, {
    env: denoEnvironment(folder),
    log: join(folder, "log"),
  })
  const proxy = await startBare("bare-proxy.ts", { BARE_SOCKET: socket })
  return {
    ...proxy,
    async stop() {
      for (const program of [proxy, deno]) await program.stop()
    },
  }
}

/** Keeps them from writing to the home folder and from using the network. */
function denoEnvironment(folder: string): Record<string, string> {
  const cache = join(folder, "deno")
  mkdirSync(cache, { recursive: true })
  return { DENO_DIR: cache, DENO_NO_UPDATE_CHECK: "1" }
}
