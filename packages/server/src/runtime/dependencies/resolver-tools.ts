import { fileURLToPath } from "node:url"
import { bundleProgram } from "../sandbox/commands/bundle-program.ts"
import type { Tool } from "../sandbox/commands/tool-command.ts"
import type { ToolJob, ToolOutcome } from "../sandbox/launch/tool-run.ts"
import { findEsbuild } from "./find-esbuild.ts"

/** Where tools run. */
export interface ToolHost {
  /** Puts a program where sandboxes can see it; gives its path. */
  addProgram(name: string, code: string): string
  runTool(job: ToolJob): Promise<ToolOutcome>
}

/** What resolving is done with. */
export interface Tools {
  readonly host: ToolHost
  readonly resolve: Tool
  readonly compile: Tool
}

/** Makes the programs, and puts them where sandboxes can see them. */
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
