import { toOwnJson } from "@hamlet/kit"
import { stackMap } from "../launch/bubblewrap-command.ts"
import type { Profile } from "../launch/launcher.ts"
import type { SandboxFolder } from "../sandbox-folder.ts"
import type { SandboxLimits } from "../sandbox-limits.ts"
import { toHeapFlag } from "./program-profile.ts"

/**
 * What works on untrusted input: one of our programs, or a command of Deno such as `fmt`. It reads
 * bytes from standard input and writes bytes to standard output.
 */
export type Tool = ProgramTool | { readonly command: readonly string[] }

/** One JavaScript file for Deno. */
export interface ProgramTool {
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

/** What a tool sees: its program, its helpers, and the egress socket if it has network. */
export function toToolProfile(
  tool: Tool,
  folder: SandboxFolder,
  limits: SandboxLimits,
  systemFiles: Profile["systemFiles"],
): Profile {
  return {
    ...("command" in tool ? toCommandParts(tool.command) : toProgramParts(tool, folder, limits)),
    program: "/deno",
    systemFiles: systemFiles.filter(({ inside }) => inside === stackMap.inside),
    toEnvironment: ({ scratch }) => ({
      DENO_DIR: `${scratch}/deno`,
      DENO_NO_UPDATE_CHECK: "1",
      HOME: scratch,
      NO_COLOR: "1",
    }),
    hasChildren: true,
  }
}

type ToolParts = Pick<Profile, "files" | "toCommand">

function toCommandParts(command: readonly string[]): ToolParts {
  return { files: {}, toCommand: ({ program: deno }) => [deno, ...command] }
}

function toProgramParts(
  { program, helpers, permissions }: ProgramTool,
  { run }: SandboxFolder,
  { heapBytesMax }: SandboxLimits,
): ToolParts {
  const ofHelpers = Object.entries(helpers).map(([name, outside]) => [
    name,
    { inside: `/${name}`, outside },
  ])
  return {
    files: {
      tool: { inside: "/tool.js", outside: program },
      // The socket in it exists already, so the tool need not write there.
      run: { inside: "/run/val", outside: run },
      ...Object.fromEntries(ofHelpers),
    },
    toCommand: ({ program: deno, tool = "", run = "", scratch, ...insideHelpers }) => {
      const paths: ToolPaths = { deno, program: tool, run, scratch, helpers: insideHelpers }
      return [
        deno,
        "run",
        "--quiet",
        "--no-prompt",
        "--no-config",
        "--no-lock",
        "--no-npm",
        "--no-remote",
        "--no-code-cache",
        ...permissions,
        toHeapFlag(heapBytesMax),
        tool,
        toOwnJson(paths),
      ]
    },
  }
}
