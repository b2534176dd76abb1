import type { SandboxLimits } from "../sandbox-limits.ts"

/**
 * A program of ours that works on what strangers have written: one file for Deno, which gets bytes
 * and gives bytes.
 */
export interface Tool {
  readonly program: string
  /** Programs that it starts, by the names under which it is told where they are. */
  readonly helpers: Readonly<Record<string, string>>
  /** What Deno lets it do. Where there is bubblewrap, that is not what keeps it in. */
  readonly permissions: readonly string[]
}

/** Where things are, as the tool sees it: its only argument, in JSON. */
export interface ToolPaths {
  readonly deno: string
  readonly program: string
  /** Where the socket of the way out is, if there is one. */
  readonly run: string
  /** Empty, and all that it can write to. */
  readonly scratch: string
  readonly helpers: Readonly<Record<string, string>>
}

/** How a tool is started. */
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
