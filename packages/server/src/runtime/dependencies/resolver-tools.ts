import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundleProgram } from "../sandbox/commands/bundle-program.ts"
import type { Tool } from "../sandbox/commands/tool-command.ts"
import type { ToolJob, ToolOutcome } from "../sandbox/launch/tool-run.ts"

/** Runs tools in sandboxes. */
export interface ToolHost {
  /** Writes a program where sandboxes can read it. Returns its path. */
  addProgram(name: string, code: string): string
  runTool(job: ToolJob): Promise<ToolOutcome>
}

/** The tools of the resolver, and where they run. */
export interface Tools {
  readonly host: ToolHost
  readonly resolve: Tool
  readonly compile: Tool
}

/** Bundles the tools, and writes them where sandboxes can read them. */
export async function createTools(findHost: () => Promise<ToolHost>): Promise<Tools> {
  const host = await findHost()
  const [resolve, compile] = await Promise.all([
    bundleProgram(resolvePath),
    bundleProgram(compilePath),
  ])
  return {
    host,
    resolve: {
      program: host.addProgram("resolve.js", resolve),
      helpers: { esbuild: findEsbuild() },
      permissions: ["--allow-read", "--allow-write", "--allow-env", "--allow-run", "--allow-sys"],
    },
    compile: { program: host.addProgram("compile.js", compile), helpers: {}, permissions: [] },
  }
}

const resolvePath = fileURLToPath(new URL("./tool/resolve-tool.ts", import.meta.url))
const compilePath = fileURLToPath(new URL("./tool/compile-tool.ts", import.meta.url))

/** The path of the esbuild program for this machine, which has an npm package of its own. */
function findEsbuild(): string {
  const file = process.platform === "win32" ? "esbuild.exe" : "bin/esbuild"
  // That package is a dependency of esbuild, not ours.
  const parent = dirname(Bun.resolveSync("esbuild/package.json", import.meta.dir))
  return join(
    dirname(Bun.resolveSync(`@esbuild/${process.platform}-${process.arch}/package.json`, parent)),
    file,
  )
}
