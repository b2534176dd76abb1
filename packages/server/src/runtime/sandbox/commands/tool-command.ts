import type { SandboxLimits } from "../sandbox-limits.ts"

/**
 * One of our programs that works on untrusted input: one JavaScript file for Deno. It reads bytes
 * from standard input and writes bytes to standard output.
 */
export interface Tool {
  readonly program: string
  /** The paths of the programs that it starts, by name. */
  readonly helpers: Readonly<Record<string, string>>
  /** Its permissions in Deno. With bubblewrap, the isolation does not depend on them. */
  readonly permissions: readonly string[]
}

/** Paths as the tool sees them: its only argument, as JSON. */
export interface ToolPaths {
  readonly deno: string
  readonly program: string
  /** The folder of the egress socket, if there is one. */
  readonly run: string
  /** Empty, and the only folder that it can write to. */
  readonly scratch: string
  readonly helpers: Readonly<Record<string, string>>
}

/** The command that starts a tool. */
export function toToolCommand(paths: ToolPaths, tool: Tool, limits: SandboxLimits): string[] {
  const heapMegabytes = Math.max(1, Math.floor(limits.heapBytesMax / 1024 ** 2))
  const switches = [
    "--quiet",
    "--no-prompt",
    "--no-config",
    "--no-lock",
    "--no-npm",
    "--no-remote",
    "--no-code-cache",
  ]
  const flags = `--v8-flags=--max-old-space-size=${heapMegabytes}`
  return [
    paths.deno,
    "run",
    ...switches,
    ...tool.permissions,
    flags,
    paths.program,
    JSON.stringify(paths),
  ]
}

/** The whole environment of a tool. */
export function toToolEnvironment({ scratch }: ToolPaths): Record<string, string> {
  return { DENO_DIR: `${scratch}/deno`, DENO_NO_UPDATE_CHECK: "1", HOME: scratch, NO_COLOR: "1" }
}
